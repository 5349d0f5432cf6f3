import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { Api } from '../../api/types.ts'
import { Empty } from '../empty.tsx'
import { Failure } from '../failure.tsx'
import { fieldFaults } from '../field-faults.ts'
import { Loading } from '../loading.tsx'
import { Section } from '../section.tsx'
import { useUrlState } from '../url-state.ts'
import { rateWords } from '../user/forecast-words.tsx'
import { useQuotaNames } from '../user/quota-names.ts'
import { readOf, type Subject } from '../user/subject.ts'
import { chartDataOf, withForecast } from './chart-data.ts'
import { addDays, dayOf, startOfDay, TIME_ZONE } from './days.ts'
import { Legend } from './legend.tsx'
import { Measures } from './measures.tsx'
import classes from './usage.module.css'
import { UsageControls } from './usage-controls.tsx'
import { periodOf, USAGE_STATE, type UsageState } from './usage-state.ts'
import { UsageTable } from './usage-table.tsx'
import { groupLabel, MEASURE_WORDS } from './usage-words.ts'

/** The parameters that people choose here. */
const FIELDS = ['from', 'to', 'interval', 'group_by'] as const

const Chart = lazy(() => import('./chart.tsx'))

/** What a user sent, got back and was denied, by day. The day it is now is the service's, as the summary tells it. */
export function UsageSection({ subject }: { subject: Subject }) {
  const summary = useQuery(readOf(subject, 'summary'))
  return (
    <Section title="Usage">
      {summary.data === undefined ? (
        <Loading rows={1} height={420} />
      ) : (
        <Report subject={subject} summary={summary.data} />
      )}
    </Section>
  )
}

function Report({ subject, summary }: { subject: Subject; summary: Api['QuotaSummary'] }) {
  const [state, change] = useUrlState(USAGE_STATE)
  const period = periodOf(state, summary.as_of)
  const usage = useQuery({
    ...readOf(subject, 'usage', {
      from: startOfDay(period.first),
      to: startOfDay(addDays(period.last, 1)),
      interval: 'day',
      time_zone: TIME_ZONE,
      group_by: state.group_by,
    }),
    placeholderData: keepPreviousData,
  })
  const faults = fieldFaults(usage.error, FIELDS)
  return (
    <>
      <UsageControls state={state} period={period} faults={faults} onChange={change} />
      {usage.error !== null &&
        (faults.rest === null ? (
          <Empty title="No report of these days">The fields above say why.</Empty>
        ) : (
          <Failure error={usage.error} onRetry={usage.refetch} />
        ))}
      {usage.data === undefined && usage.error === null && <Loading rows={1} height={352} />}
      {usage.data !== undefined && (usage.error === null || !usage.isPlaceholderData) && (
        <div
          aria-busy={usage.isPlaceholderData}
          data-old={usage.isPlaceholderData || undefined}
          className={classes.report}
        >
          <Measures total={usage.data.total} shown={state.measure} onShow={measure => change({ measure })} />
          <Picture subject={subject} summary={summary} usage={usage.data} state={state} last={period.last} />
        </div>
      )}
    </>
  )
}

interface PictureProps {
  subject: Subject
  summary: Api['QuotaSummary']
  usage: Api['Usage']
  state: UsageState
  /** The last day that is shown. */
  last: string
}

function Picture({ subject, summary, usage, state, last }: PictureProps) {
  const { measure, as } = state
  // The rows of before may still be grouped otherwise.
  const group = groupOf(usage, state.group_by)
  const names = useQuotaNames(subject, group === 'quota')
  const labelOf = (key: string | number | null) => (group === null ? 'Units' : groupLabel(group, key, names))
  if (as === 'table') return <UsageTable usage={usage} group={group} labelOf={labelOf} />

  const { series, rows } = chartDataOf(usage, measure, group, labelOf)
  if (series.length === 0) {
    return (
      <div className={classes.picture}>
        <Empty title={`Nothing ${MEASURE_WORDS[measure].label.toLowerCase()} in these days`} />
      </div>
    )
  }
  // It says what will be committed, from today on.
  const isAhead = measure === 'committed' && last === dayOf(summary.as_of)
  const forecast = isAhead && summary.forecast !== null && summary.forecast.daily_rate > 0 ? summary.forecast : null
  return (
    <>
      <div className={classes.picture}>
        <Suspense fallback={<Loading rows={1} height={260} />}>
          <Chart
            series={series}
            rows={forecast === null ? rows : withForecast(rows, forecast, summary.as_of)}
            label={`Units ${MEASURE_WORDS[measure].label.toLowerCase()} by day. Arrow keys go through the days; “Show as table” has them in words.`}
          />
        </Suspense>
      </div>
      <Legend series={series} forecast={forecast && `Forecast: ${rateWords(forecast.daily_rate).toLowerCase()}`} />
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
