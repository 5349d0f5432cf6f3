import { Announcement } from '../../parts/announcement.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TimeOfDay } from '../../parts/moment.tsx'
import { Section } from '../../parts/section.tsx'
import { formatUnits } from '../../parts/units.tsx'
import { Figure } from './figure.tsx'
import { useLastHour } from './figures.ts'

/** How often senders were told no. */
export function Denials() {
  const usage = useLastHour()
  return (
    <Section isFramed title="Denied in the last hour">
      <Loaded query={usage} loading={<Loading rows={2} height={34} />}>
        {({ from, total: { denied } }) => (
          <>
            <Figure value={denied.messages}>
              {denied.messages === 1 ? 'message' : 'messages'}, {formatUnits(denied.units)}{' '}
              {denied.units === 1 ? 'unit' : 'units'}, since <TimeOfDay at={from} />
            </Figure>
            <Announcement words={`${formatUnits(denied.messages)} messages denied in the last hour`} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
