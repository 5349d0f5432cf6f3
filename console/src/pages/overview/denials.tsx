import { Anchor } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, Units } from '../../components/values.tsx'
import { formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import { HeadlineNumber } from './headline-number.tsx'
import classes from './overview.module.css'
import { useLastHour } from './overview-queries.ts'

/** Denied messages and units of the last hour, and the messages by reason. */
export function Denials() {
  const usage = useLastHour()
  return (
    <Section
      isFramed
      title="Denied in the last hour"
      aside={
        <Anchor component={Link} href="/denials" size="sm">
          All denials
        </Anchor>
      }
    >
      <Loaded query={usage} loading={<Loading rows={2} height={34} />}>
        {({ from, total: { denied, denied_by_reason } }) => (
          <>
            <HeadlineNumber value={denied.messages}>
              {denied.messages === 1 ? 'message' : 'messages'}, {formatUnits(denied.units)}{' '}
              {denied.units === 1 ? 'unit' : 'units'}, since <TimeOfDay at={from} />
            </HeadlineNumber>
            {denied.messages > 0 && (
              <dl className={classes.details}>
                {DENIAL_REASONS.filter(reason => denied_by_reason[reason].messages > 0).map(reason => (
                  <Fragment key={reason}>
                    <dt>
                      <Anchor component={Link} href={`/denials?reason=${reason}`} inherit>
                        {texts.denials.reasons[reason]}
                      </Anchor>
                    </dt>
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
