import { Anchor, Table } from '@mantine/core'
import { Link } from 'wouter'
import { DAY_MS } from '../../../../src/domain/time.ts'
import type { Api } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { LongDate, Units } from '../../components/values.tsx'
import { formatRate } from '../../formats.ts'
import { useForecasts } from '../../queries/overview.ts'
import { overviewPartTexts } from '../../texts/overview-parts.ts'
import { useFirstRows } from './parts.tsx'

const DAYS = 7

interface Forecast {
  user_id: number
  runsOutAt: string
  dailyRate: number
  available: number | null
}

/** Users who will run out within 7 days at their daily rate, the first ones first. */
export function RunningOut() {
  const summaries = useForecasts()
  const { runningOut } = overviewPartTexts
  return (
    <Section isFramed title={runningOut.title}>
      <Loaded query={summaries} loading={<Loading rows={3} height={36} />}>
        {data => {
          const forecasts = data.flatMap(forecastWithinDays)
          if (forecasts.length === 0) return <EmptyState title={runningOut.none}>{runningOut.noneAbout}</EmptyState>
          return (
            <>
              <Users forecasts={forecasts.toSorted((one, other) => one.runsOutAt.localeCompare(other.runsOutAt))} />
              <p className={classes.more}>{runningOut.about}</p>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** None for a user whose units last longer, and for one who can send nothing now: that one is blocked. */
function forecastWithinDays({ user_id, as_of, forecast, available }: Api['QuotaSummary']): Forecast[] {
  if (forecast === null) return []
  const { runs_out_at, daily_rate } = forecast
  if (runs_out_at === null || runs_out_at <= as_of) return []
  if (Date.parse(runs_out_at) > Date.parse(as_of) + DAYS * DAY_MS) return []
  return [{ user_id, runsOutAt: runs_out_at, dailyRate: daily_rate, available }]
}

function Users({ forecasts }: { forecasts: readonly Forecast[] }) {
  const [shown, button] = useFirstRows(forecasts)
  const { title, columns } = overviewPartTexts.runningOut
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
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ user_id, runsOutAt, dailyRate, available }) => (
            <Table.Tr key={user_id}>
              <Table.Th scope="row">
                <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
                  {overviewPartTexts.user(user_id)}
                </Anchor>
              </Table.Th>
              <Table.Td data-label={columns.runsOut}>
                <LongDate at={runsOutAt} dateOnly />
              </Table.Td>
              <Table.Td data-label={columns.rate} className={classes.number ?? ''}>
                {formatRate(dailyRate)}
              </Table.Td>
              <Table.Td data-label={columns.left} className={classes.number ?? ''}>
                <Units value={available} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}
