import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, Units } from '../../components/values.tsx'
import { useToday, useYesterday, useYesterdayUntilNow } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { HourlyChart } from './hourly-chart.tsx'
import classes from './overview.module.css'
import { HeadlineNumber } from './parts.tsx'

type Hour = Api['Usage']['items'][number]
type Kind = 'committed' | 'refunded' | 'unfunded'

/** Usage since midnight, compared with yesterday. */
export function Today() {
  const today = useToday()
  const yesterday = useYesterday(new Date())
  const { title, details, announcement } = texts.overview.today
  return (
    <Section isFramed title={title}>
      <Loaded query={today} loading={<Loading rows={4} height={34} />}>
        {({ items }) => (
          <div className={classes.today}>
            <div>
              <HeadlineNumber value={sum(items, 'committed', 'units')}>
                <Comparison units={sum(items, 'committed', 'units')} asOf={today.dataUpdatedAt} />
              </HeadlineNumber>
              <dl className={classes.details}>
                <Detail name={details.messages} count={sum(items, 'committed', 'messages')} />
                <Detail name={details.refunded} count={sum(items, 'refunded', 'units')} />
                <Detail name={details.unfunded} count={sum(items, 'unfunded', 'units')} />
              </dl>
            </div>
            <HourlyChart today={items} yesterday={yesterday.data?.items ?? []} />
            <Announcement text={announcement(sum(items, 'committed', 'units'))} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}

function Comparison({ units, asOf }: { units: number; asOf: number }) {
  const { data } = useYesterdayUntilNow(new Date(asOf))
  if (data === undefined) return null
  const before = data.total.committed.units
  const { compared, noneYesterday } = texts.overview.today
  const until = <TimeOfDay at={data.to} />
  return before === 0 ? noneYesterday(until) : compared(compare(units, before), until, before)
}

/** @param before more than 0 */
function compare(units: number, before: number): string {
  const { same, times, more, less } = texts.overview.today
  const change = (units - before) / before
  if (Math.abs(change) < 0.005) return same
  if (change >= 9) return times(Math.round(units / before))
  return change > 0 ? more(change) : less(-change)
}

function Detail({ name, count }: { name: string; count: number }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Units value={count} />
      </dd>
    </>
  )
}

function sum(hours: readonly Hour[], kind: Kind, of: 'units' | 'messages'): number {
  return hours.reduce((total, hour) => total + hour[kind][of], 0)
}
