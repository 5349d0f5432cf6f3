import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import { DAY_MS } from '../../../../src/domain/time.ts'
import type { Api } from '../../api/types.ts'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { LongDate, TimeOrDate, Units } from '../../components/values.tsx'
import { formatRate, isWithinMinutes } from '../../formats.ts'
import { useForecasts } from '../../queries/forecasts.ts'
import { texts } from '../../texts/texts.ts'
import { useFirstRows, useKeptChoice } from './parts.tsx'

const DAYS = 7

interface Forecast {
  user_id: number
  runsOutAt: string
  isSoon: boolean
  dailyRate: number
  left: number | null
  /** Of `left`, what would still be unused then: the units end before they run out. 0 if that is less than a day's. */
  unused: number
  /** The units that the user would send from then until the next reset, or to the end of the 7 days if that is before. */
  missing: { units: number; until: string }
}

/** Caps that reset within the 7 days: a user that only they stop can go on before the week is over. */
const SHORT_PERIODS: readonly string[] = ['hour', 'day', 'week']

/** Users who will run out within 7 days at their daily rate, the first ones first. */
export function RunningOut() {
  const [isAll, setAll] = useKeptChoice('all users who run out')
  const forecasts = useForecasts(isAll)
  const { runningOut } = texts.overviewParts
  return (
    <Section isFramed title={runningOut.title}>
      <Loaded query={forecasts} loading={<Loading rows={3} height={36} />}>
        {({ summaries, coverage }) => {
          const found = summaries.flatMap(forecastWithinDays)
          const covered = (
            <>
              {coverage === 'all' ? runningOut.all(summaries.length) : runningOut.bound(summaries.length)}{' '}
              {coverage === 'too many' && runningOut.tooMany}
              {coverage === 'top' && (
                <Button size="compact-xs" variant="subtle" loading={isAll} onClick={() => setAll(true)}>
                  {runningOut.checkAll}
                </Button>
              )}
            </>
          )
          if (found.length === 0) {
            return (
              <EmptyState title={runningOut.none}>
                {summaries.every(({ forecast }) => forecast === null) && runningOut.noneAbout} {covered}
              </EmptyState>
            )
          }
          return (
            <>
              <Users forecasts={found.toSorted((one, other) => one.runsOutAt.localeCompare(other.runsOutAt))} />
              <p className={classes.more}>
                {runningOut.about} {covered}
              </p>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** None for a user whose units last longer, and for one who can send nothing now: that one is blocked. */
function forecastWithinDays(summary: Api['QuotaSummary']): Forecast[] {
  const { user_id, as_of, forecast, available, remaining, caps, next_reset } = summary
  if (forecast === null) return []
  const { runs_out_at, units_run_out_at, daily_rate } = forecast
  const isCapped = caps.some(({ period }) => period !== null && SHORT_PERIODS.includes(period))
  const end = isCapped ? units_run_out_at : runs_out_at
  if (end === null || end <= as_of) return []
  const horizon = new Date(Date.parse(as_of) + DAYS * DAY_MS).toISOString()
  if (end > horizon) return []
  const left = isCapped ? remaining : available
  const until = next_reset !== null && next_reset.at > end && next_reset.at < horizon ? next_reset.at : horizon
  const missing = Math.ceil((daily_rate * (Date.parse(until) - Date.parse(end))) / DAY_MS)
  const unused = Math.floor((left ?? 0) - (daily_rate * (Date.parse(end) - Date.parse(as_of))) / DAY_MS)
  return [
    {
      user_id,
      runsOutAt: end,
      isSoon: isWithinMinutes(end, as_of),
      dailyRate: daily_rate,
      left,
      unused: unused > daily_rate ? unused : 0,
      missing: { units: missing, until },
    },
  ]
}

function Users({ forecasts }: { forecasts: readonly Forecast[] }) {
  const [shown, button] = useFirstRows('running out', forecasts)
  const { title, columns } = texts.overviewParts.runningOut
  return (
    <>
      <Table className={`${classes.table} ${classes.cards}`} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{columns.user}</Table.Th>
            <Table.Th scope="col">{columns.runsOut}</Table.Th>
            <Table.Th scope="col" className={classes.number ?? ''}>
              {columns.rate}
            </Table.Th>
            <Table.Th scope="col" className={classes.number ?? ''}>
              {columns.left}
            </Table.Th>
            <Table.Th scope="col" className={classes.number ?? ''}>
              {columns.missing}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ user_id, runsOutAt, isSoon, dailyRate, left, unused, missing }) => (
            <Table.Tr key={user_id}>
              <Table.Th scope="row">
                <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
                  {texts.overviewParts.user(user_id)}
                </Anchor>
              </Table.Th>
              <Table.Td data-label={columns.runsOut}>
                <div>
                  {isSoon ? texts.overviewParts.runningOut.soon : <LongDate at={runsOutAt} dateOnly />}
                  {unused > 0 && <div className={classes.about}>{texts.overviewParts.runningOut.unused(unused)}</div>}
                </div>
              </Table.Td>
              <Table.Td data-label={columns.rate} className={classes.number ?? ''}>
                {formatRate(dailyRate)}
              </Table.Td>
              <Table.Td data-label={columns.left} className={classes.number ?? ''}>
                <Units value={left} />
              </Table.Td>
              <Table.Td data-label={columns.missing} className={classes.number ?? ''}>
                <div>
                  <Units value={missing.units} />
                  <div className={classes.about}>
                    {texts.overviewParts.runningOut.until(<TimeOrDate at={missing.until} />)}
                  </div>
                </div>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}
