import { Announcement } from '../../components/announcement.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay } from '../../components/timestamp.tsx'
import { formatUnits } from '../../components/units.tsx'
import { HeadlineNumber } from './headline-number.tsx'
import { useLastHour } from './overview-queries.ts'

/** Denied messages and units of the last hour. */
export function Denials() {
  const usage = useLastHour()
  return (
    <Section isFramed title="Denied in the last hour">
      <Loaded query={usage} loading={<Loading rows={2} height={34} />}>
        {({ from, total: { denied } }) => (
          <>
            <HeadlineNumber value={denied.messages}>
              {denied.messages === 1 ? 'message' : 'messages'}, {formatUnits(denied.units)}{' '}
              {denied.units === 1 ? 'unit' : 'units'}, since <TimeOfDay at={from} />
            </HeadlineNumber>
            <Announcement text={`${formatUnits(denied.messages)} messages denied in the last hour`} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
