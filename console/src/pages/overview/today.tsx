import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, Units } from '../../components/values.tsx'
import { formatPercent, formatUnits } from '../../formats.ts'
import { HeadlineNumber } from './headline-number.tsx'
import { HourlyChart } from './hourly-chart.tsx'
import classes from './overview.module.css'
import { useToday, useYesterday, useYesterdayUntilNow } from './overview-queries.ts'

type Hour = Api['Usage']['items'][number]
type Kind = 'committed' | 'refunded' | 'unfunded'

/** Usage since midnight, compared with yesterday. */
export function Today() {
  const today = useToday()
  const yesterday = useYesterday(new Date())
  return (
    <Section isFramed title="Units used today">
      <Loaded query={today} loading={<Loading rows={4} height={34} />}>
        {({ items }) => (
          <div className={classes.today}>
            <div>
              <HeadlineNumber value={sum(items, 'committed', 'units')}>
                <Comparison units={sum(items, 'committed', 'units')} asOf={today.dataUpdatedAt} />
              </HeadlineNumber>
              <dl className={classes.details}>
                <Detail name="Messages" count={sum(items, 'committed', 'messages')} />
                <Detail name="Units refunded" count={sum(items, 'refunded', 'units')} />
                <Detail name="Unfunded units" count={sum(items, 'unfunded', 'units')} />
              </dl>
            </div>
            <HourlyChart today={items} yesterday={yesterday.data?.items ?? []} />
            <Announcement text={`${formatUnits(sum(items, 'committed', 'units'))} units used today`} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}

function Comparison({ units, asOf }: { units: number; asOf: number }) {
  const { data } = useYesterdayUntilNow(new Date(asOf))
  // Keeps the height of the line.
  if (data === undefined) return <>&nbsp;</>
  const before = data.total.committed.units
  return (
    <>
      {compare(units, before)} by <TimeOfDay at={data.to} />
      {before > 0 && `: ${formatUnits(before)}`}
    </>
  )
}

function compare(units: number, before: number): string {
  if (before === 0) return 'None yesterday'
  const change = (units - before) / before
  if (Math.abs(change) < 0.005) return 'Same as yesterday'
  if (change >= 9) return `${formatUnits(Math.round(units / before))} times as much as yesterday`
  return `${formatPercent(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than yesterday`
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
