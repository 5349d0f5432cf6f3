import type { Api } from '../../api/types.ts'
import { Announcement } from '../../parts/announcement.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TimeOfDay } from '../../parts/moment.tsx'
import { Section } from '../../parts/section.tsx'
import { formatUnits, Units } from '../../parts/units.tsx'
import { Figure } from './figure.tsx'
import { useHours, useYesterday } from './figures.ts'
import { Hours } from './hours.tsx'
import classes from './overview.module.css'

type Hour = Api['Usage']['items'][number]
type Kind = 'committed' | 'refunded' | 'unfunded'

/** What has been used since midnight, beside yesterday. */
export function Today() {
  const hours = useHours()
  return (
    <Section isFramed title="Units used today">
      <Loaded query={hours} loading={<Loading rows={4} height={34} />}>
        {({ today, yesterday }) => (
          <div className={classes.today}>
            <div>
              <Figure value={sum(today, 'committed', 'units')}>
                <Comparison units={sum(today, 'committed', 'units')} asOf={hours.dataUpdatedAt} />
              </Figure>
              <dl className={classes.details}>
                <Detail name="Messages" count={sum(today, 'committed', 'messages')} />
                <Detail name="Units refunded" count={sum(today, 'refunded', 'units')} />
                <Detail name="Paid by no grant" count={sum(today, 'unfunded', 'units')} />
              </dl>
            </div>
            <Hours today={today} yesterday={yesterday} />
            <Announcement words={`${formatUnits(sum(today, 'committed', 'units'))} units used today`} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })

function Comparison({ units, asOf }: { units: number; asOf: number }) {
  const { data } = useYesterday(new Date(asOf))
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
