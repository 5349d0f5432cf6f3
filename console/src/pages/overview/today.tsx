import type { Api } from '../../api/types.ts'
import { Announcement } from '../../parts/announcement.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TimeOfDay } from '../../parts/moment.tsx'
import { Section } from '../../parts/section.tsx'
import { formatUnits, Units } from '../../parts/units.tsx'
import { Figure } from './figure.tsx'
import { useToday, useYesterday, useYesterdayUntilNow } from './figures.ts'
import { Hours } from './hours.tsx'
import classes from './overview.module.css'

type Hour = Api['Usage']['items'][number]
type Kind = 'committed' | 'refunded' | 'unfunded'

/** What has been used since midnight, beside yesterday. */
export function Today() {
  const today = useToday()
  const yesterday = useYesterday(new Date())
  return (
    <Section isFramed title="Units used today">
      <Loaded query={today} loading={<Loading rows={4} height={34} />}>
        {({ items }) => (
          <div className={classes.today}>
            <div>
              <Figure value={sum(items, 'committed', 'units')}>
                <Comparison units={sum(items, 'committed', 'units')} asOf={today.dataUpdatedAt} />
              </Figure>
              <dl className={classes.details}>
                <Detail name="Messages" count={sum(items, 'committed', 'messages')} />
                <Detail name="Units refunded" count={sum(items, 'refunded', 'units')} />
                <Detail name="Paid by no grant" count={sum(items, 'unfunded', 'units')} />
              </dl>
            </div>
            <Hours today={items} yesterday={yesterday.data?.items ?? []} />
            <Announcement words={`${formatUnits(sum(items, 'committed', 'units'))} units used today`} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })

function Comparison({ units, asOf }: { units: number; asOf: number }) {
  const { data } = useYesterdayUntilNow(new Date(asOf))
  // As high as the words that come.
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
  if (Math.abs(change) < 0.005) return 'As yesterday'
  if (change >= 9) return `${formatUnits(Math.round(units / before))} times as much as yesterday`
  return `${PERCENT.format(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than yesterday`
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
