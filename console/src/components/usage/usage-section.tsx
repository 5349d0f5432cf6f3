import { Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { Api } from '../../api/types.ts'
import { formatWeekday, LOCAL_ZONE } from '../../formats.ts'
import { addDays, dayOf, startOfDay } from '../../local-time.ts'
import { EmptyState } from '../empty-state.tsx'
import { ErrorNotice } from '../error-notice.tsx'
import { fieldErrors } from '../field-errors.ts'
import { Loading } from '../loading.tsx'
import { Section } from '../section.tsx'
import { useUrlState } from '../url-state.ts'
import { formatDailyRate } from '../user/forecast-text.tsx'
import { useQuotaNames } from '../user/quota-names.ts'
import { type ViewedUser, viewedUserQuery } from '../user/viewed-user.ts'
import { chartDataOf, withForecast } from './chart-data.ts'
import { Legend } from './legend.tsx'
import { Measures } from './measures.tsx'
import classes from './usage.module.css'
import { UsageControls } from './usage-controls.tsx'
import { groupLabel, MEASURE_LABELS } from './usage-labels.ts'
import { periodOf, USAGE_STATE, type UsageState } from './usage-state.ts'
import { UsageTable } from './usage-table.tsx'

/** The parameters with a field of their own. */
const FIELDS = ['from', 'to', 'interval', 'group_by'] as const

const Chart = lazy(() => import('./chart.tsx'))

/** Usage of a user by day. "Today" is the date of the service, from the summary. */
export function UsageSection({ user }: { user: ViewedUser }) {
  const summary = useQuery(viewedUserQuery(user, 'summary'))
  return (
    <Section title="Usage">
      {summary.data === undefined ? <Loading rows={1} height={420} /> : <Report user={user} summary={summary.data} />}
    </Section>
  )
}

function Report({ user, summary }: { user: ViewedUser; summary: Api['QuotaSummary'] }) {
  const [state, change] = useUrlState(USAGE_STATE)
  const period = periodOf(state, summary.as_of)
  const usage = useQuery({
    ...viewedUserQuery(user, 'usage', {
      from: startOfDay(period.first),
      to: startOfDay(addDays(period.last, 1)),
      interval: 'day',
      time_zone: LOCAL_ZONE,
      group_by: state.group_by,
    }),
    placeholderData: keepPreviousData,
  })
  const errors = fieldErrors(usage.error, FIELDS)
  return (
    <>
      <UsageControls state={state} period={period} errors={errors} onChange={change} />
      {usage.error !== null &&
        (errors.rest === null ? (
          <EmptyState title="No report for this period">Correct the fields above.</EmptyState>
        ) : (
          <ErrorNotice variant="load" error={usage.error} onRetry={usage.refetch} />
        ))}
      {usage.data === undefined && usage.error === null && <Loading rows={1} height={352} />}
      {usage.data !== undefined && (usage.error === null || !usage.isPlaceholderData) && (
        <div
          aria-busy={usage.isPlaceholderData}
          data-stale={usage.isPlaceholderData || undefined}
          className={classes.report}
        >
          <Measures total={usage.data.total} shown={state.measure} onShow={measure => change({ measure })} />
          <Approximate items={usage.data.items} />
          <ChartOrTable user={user} summary={summary} usage={usage.data} state={state} last={period.last} />
        </div>
      )}
    </>
  )
}

/** Says up to which day figures are approximate, because older days are kept in the time zone of the service. */
function Approximate({ items }: { items: Api['Usage']['items'] }) {
  const last = items.findLast(item => !item.exact)
  if (last === undefined) return null
  return (
    <Text size="xs" c="dimmed">
      Days up to {formatWeekday(last.start)} are approximate: usage of that age is kept by the day of another time zone.
    </Text>
  )
}

interface ChartOrTableProps {
  user: ViewedUser
  summary: Api['QuotaSummary']
  usage: Api['Usage']
  state: UsageState
  /** The last shown day. */
  last: string
}

function ChartOrTable({ user, summary, usage, state, last }: ChartOrTableProps) {
  const { measure, as } = state
  // Stale rows may still have the previous grouping.
  const group = groupOf(usage, state.group_by)
  const names = useQuotaNames(user, group === 'quota')
  const labelOf = (key: string | number | null) => (group === null ? 'Units' : groupLabel(group, key, names))
  if (as === 'table') return <UsageTable usage={usage} group={group} labelOf={labelOf} />

  const { series, rows } = chartDataOf(usage, measure, group, labelOf)
  if (series.length === 0) {
    return (
      <div className={classes.chart}>
        <EmptyState title={`Nothing ${MEASURE_LABELS[measure].label.toLowerCase()} in this period`} />
      </div>
    )
  }
  // The forecast is of committed units, from today.
  const isAhead = measure === 'committed' && last === dayOf(summary.as_of)
  const forecast = isAhead && summary.forecast !== null && summary.forecast.daily_rate > 0 ? summary.forecast : null
  return (
    <>
      <div className={classes.chart}>
        <Suspense fallback={<Loading rows={1} height={260} />}>
          <Chart
            series={series}
            rows={forecast === null ? rows : withForecast(rows, forecast, summary.as_of)}
            label={`Units ${MEASURE_LABELS[measure].label.toLowerCase()} by day. Use the arrow keys to move between days, or “Show as table”.`}
          />
        </Suspense>
      </div>
      <Legend
        series={series}
        forecast={forecast && `Forecast: ${formatDailyRate(forecast.daily_rate).toLowerCase()}`}
      />
    </>
  )
}

function groupOf({ items }: Api['Usage'], wanted: UsageState['group_by']): UsageState['group_by'] {
  const [item] = items
  if (item === undefined) return wanted
  if (item.country !== undefined) return 'country'
  if (item.message_type !== undefined) return 'message_type'
  return item.quota_id === undefined ? null : 'quota'
}
