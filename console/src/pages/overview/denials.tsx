import { Fragment } from 'react'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay } from '../../components/timestamp.tsx'
import { formatUnits, Units } from '../../components/units.tsx'
import { HeadlineNumber } from './headline-number.tsx'
import classes from './overview.module.css'
import { useLastHour } from './overview-queries.ts'

type Reason = keyof Api['Usage']['total']['denied_by_reason']

const REASONS: readonly { reason: Reason; label: string }[] = [
  { reason: 'quota_exhausted', label: 'Quota exhausted' },
  { reason: 'cap_reached', label: 'Cap reached' },
  { reason: 'no_quota', label: 'No quota' },
]

/** Denied messages and units of the last hour, and the messages by reason. */
export function Denials() {
  const usage = useLastHour()
  return (
    <Section isFramed title="Denied in the last hour">
      <Loaded query={usage} loading={<Loading rows={2} height={34} />}>
        {({ from, total: { denied, denied_by_reason } }) => (
          <>
            <HeadlineNumber value={denied.messages}>
              {denied.messages === 1 ? 'message' : 'messages'}, {formatUnits(denied.units)}{' '}
              {denied.units === 1 ? 'unit' : 'units'}, since <TimeOfDay at={from} />
            </HeadlineNumber>
            {denied.messages > 0 && (
              <dl className={classes.details}>
                {REASONS.filter(({ reason }) => denied_by_reason[reason].messages > 0).map(({ reason, label }) => (
                  <Fragment key={reason}>
                    <dt>{label}</dt>
                    <dd>
                      <Units value={denied_by_reason[reason].messages} />
                    </dd>
                  </Fragment>
                ))}
              </dl>
            )}
            <Announcement text={`${formatUnits(denied.messages)} messages denied in the last hour`} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
