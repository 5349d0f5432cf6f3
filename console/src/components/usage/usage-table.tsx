import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { formatShortDay, formatWeekday } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { type DenialsState, denialsUrl, groupFilter } from '../../model/denial-filters.ts'
import { dayIn, noonOf } from '../../model/local-time.ts'
import { keyOf } from '../../model/usage-chart.ts'
import { type Group, MEASURES, type Measure } from '../../model/usage-report.ts'
import { texts } from '../../texts/texts.ts'
import { unitsColumn } from '../columns.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Units } from '../values.tsx'
import classes from './usage.module.css'

type Item = Api['Usage']['items'][number]

interface UsageTableProps {
  user: ViewedUser
  words: Record<Measure, { label: string }>
  usage: Api['Usage']
  group: Group | null
  labelOf: (key: string | number | null) => string
}

/** The data of the chart, newest day first, without groups that have no usage on a day. */
export function UsageTable(props: UsageTableProps) {
  const { usage, group } = props
  const items = usage.items
    .filter(item => group === null || MEASURES.some(measure => item[measure].messages > 0 || item[measure].units > 0))
    .toReversed()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it.
    <section className={classes.scroll} aria-label={texts.usage.table} tabIndex={0}>
      <DataTable
        look="plain"
        className={classes.table}
        columns={columnsOf(props)}
        rows={items}
        keyOf={item => `${item.start} ${JSON.stringify(groupKey(item, group))}`}
      />
    </section>
  )
}

function groupKey(item: Item, group: Group | null) {
  return group === null ? null : keyOf(item, group)
}

function columnsOf({ user, words, usage, group, labelOf }: UsageTableProps): Column<Item>[] {
  const measures = MEASURES.filter(measure => measure !== 'unfunded' || usage.total.unfunded.units > 0)
  const day: Column<Item> = {
    label: texts.usage.day,
    cell: ({ start }) => {
      const noon = noonOf(dayIn(usage.time_zone, start))
      return (
        <time dateTime={start} title={formatWeekday(noon)}>
          {formatShortDay(noon)}
        </time>
      )
    },
  }
  const named: Column<Item>[] =
    group === null
      ? []
      : [
          {
            label: texts.usage.groups[group],
            kind: 'name',
            cell: item => <bdi>{labelOf(groupKey(item, group))}</bdi>,
          },
        ]
  return [
    day,
    ...named,
    ...measures.map((measure): Column<Item> => {
      const column = unitsColumn<Item>(words[measure].label, item => item[measure].units)
      const filtersOf = (item: Item) => denialsOf(item, group, groupKey(item, group))
      return measure === 'denied'
        ? { ...column, cell: item => <Denied user={user} item={item} filters={filtersOf(item)} /> }
        : column
    }),
  ]
}

/** Which denials a row counts; null if the log has no filter for them. */
function denialsOf(
  { start, end }: Item,
  group: Group | null,
  key: string | number | null,
): Partial<DenialsState> | null {
  const day = { from: start, to: end }
  if (group === null) return day
  return group === 'quota' ? null : { ...day, ...groupFilter(group, key === null ? null : String(key)) }
}

/** The denied units of a row, which lead to the denials. */
function Denied({ user, item, filters }: { user: ViewedUser; item: Item; filters: Partial<DenialsState> | null }) {
  const { units } = item.denied
  if (units === 0 || filters === null) return <Units value={units} />
  return (
    <Anchor component={Link} href={denialsUrl(filters, user)} inherit underline="always">
      <Units value={units} />
    </Anchor>
  )
}
