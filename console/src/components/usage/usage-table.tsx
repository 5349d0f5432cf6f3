import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { formatShortDay, formatWeekday } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { type DenialsState, denialsUrl, groupFilter } from '../../model/denial-filters.ts'
import { keyOf } from '../../model/usage-chart.ts'
import { type Group, MEASURES, type Measure } from '../../model/usage-report.ts'
import { texts } from '../../texts/texts.ts'
import { Table } from '../table.tsx'
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
export function UsageTable({ user, words, usage, group, labelOf }: UsageTableProps) {
  const measures = MEASURES.filter(measure => measure !== 'unfunded' || usage.total.unfunded.units > 0)
  const items = usage.items
    .filter(item => group === null || MEASURES.some(measure => item[measure].messages > 0 || item[measure].units > 0))
    .toReversed()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it.
    <section className={classes.scroll} aria-label={texts.usage.table} tabIndex={0}>
      <Table className={classes.table} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{texts.usage.day}</Table.Th>
            {group !== null && <Table.Th scope="col">{texts.usage.groups[group]}</Table.Th>}
            {measures.map(measure => (
              <Table.Th key={measure} scope="col" className={classes.number}>
                {words[measure].label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(item => {
            const key = group === null ? null : keyOf(item, group)
            return (
              <Table.Tr key={`${item.start} ${JSON.stringify(key)}`}>
                <Table.Th scope="row">
                  <time dateTime={item.start} title={formatWeekday(item.start)}>
                    {formatShortDay(item.start)}
                  </time>
                </Table.Th>
                {group !== null && (
                  <Table.Td className={classes.group}>
                    <bdi>{labelOf(key)}</bdi>
                  </Table.Td>
                )}
                {measures.map(measure => (
                  <Table.Td key={measure} className={classes.number}>
                    {measure === 'denied' ? (
                      <Denied user={user} item={item} filters={denialsOf(item, group, key)} />
                    ) : (
                      <Units value={item[measure].units} />
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </section>
  )
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
