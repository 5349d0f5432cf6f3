import { Anchor, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { DENIAL_REASONS } from '../../../../src/domain/units/reservation.ts'
import type { Api } from '../../api/types.ts'
import { countryLabel, formatUnits, formatWeekday, LOCAL_ZONE } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { dayIn, noonOf } from '../../model/local-time.ts'
import { chartDataOf, daysAhead, enteredOf, maxOf, type Series, withForecast } from '../../model/usage-chart.ts'
import {
  dailyCapOf,
  type Group,
  MEASURES,
  type Measure,
  periodOf,
  shownGroup,
  USAGE_STATE,
  type UsageState,
} from '../../model/usage-report.ts'
import { usageQuery } from '../../queries/usage.ts'
import { summaryQuery, useQuotaNames, useRaises } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { ErrorNotice } from '../error-notice.tsx'
import { fieldErrors } from '../form-errors.ts'
import { EmptyState, Loading } from '../loaded.tsx'
import { Section } from '../section.tsx'
import { useUrlState } from '../url-state.ts'
import { Units } from '../values.tsx'
import classes from './usage.module.css'
import { UsageControls } from './usage-controls.tsx'
import { UsageTable } from './usage-table.tsx'

/** The parameters with a field of their own. */
const FIELDS = ['from', 'to', 'interval', 'group_by'] as const

const Chart = lazy(() => import('./chart.tsx'))

/** Usage of a user by day. "Today" is the date of the service, from the summary. */
export default function UsageSection({ user }: { user: ViewedUser }) {
  const summary = useQuery(summaryQuery(user))
  return (
    <Section title={texts.usage.title}>
      {summary.data === undefined ? <Loading rows={1} height={440} /> : <Report user={user} summary={summary.data} />}
    </Section>
  )
}

function Report({ user, summary }: { user: ViewedUser; summary: Api['QuotaSummary'] }) {
  const [state, change] = useUrlState(USAGE_STATE)
  // A bar and the cap that bounds it count the same day.
  const time_zone = dailyCapOf(summary)?.time_zone ?? LOCAL_ZONE
  const period = periodOf(state, summary.as_of, time_zone)
  const usage = useQuery(usageQuery(user, { ...period, group_by: state.group_by, time_zone }))
  const errors = fieldErrors(usage.error, FIELDS, texts.usage.errors)
  return (
    <>
      <UsageControls state={state} period={period} errors={errors} onChange={change} />
      {usage.error !== null &&
        (errors.rest === null ? (
          <EmptyState title={texts.usage.noReport}>{texts.usage.correctFields}</EmptyState>
        ) : (
          <ErrorNotice variant="load" error={usage.error} onRetry={usage.refetch} />
        ))}
      {usage.data === undefined && usage.error === null && <Loading rows={1} height={372} />}
      {usage.data !== undefined && (usage.error === null || !usage.isPlaceholderData) && (
        <div aria-busy={usage.isPlaceholderData} data-stale={usage.isPlaceholderData || undefined}>
          <Measures
            user={user}
            total={usage.data.total}
            shown={state.measure}
            onShow={measure => change({ measure })}
          />
          <Approximate usage={usage.data} />
          <ChartOrTable user={user} summary={summary} usage={usage.data} state={state} last={period.last} />
          {state.measure === 'denied' && <DeniedReasons user={user} usage={usage.data} />}
        </div>
      )}
    </>
  )
}

/** What is counted; without operator's words for the user's own page. */
const measuresOf = ({ isOwn }: ViewedUser) => (isOwn ? texts.usage.ownMeasures : texts.usage.measures)

interface MeasuresProps {
  user: ViewedUser
  total: Api['Usage']['total']
  shown: Measure
  onShow: (measure: Measure) => void
}

/** Totals of the period as buttons that select what the chart shows. */
function Measures({ user, total, shown, onShow }: MeasuresProps) {
  // Most users have no unfunded units.
  const measures = MEASURES.filter(measure => measure !== 'unfunded' || total.unfunded.units > 0 || shown === measure)
  return (
    <fieldset className={classes.measures} aria-label={texts.usage.chooseMeasure}>
      {measures.map(measure => (
        <UnstyledButton
          key={measure}
          className={classes.measure}
          aria-pressed={measure === shown}
          onClick={() => onShow(measure)}
        >
          <span className={classes.label}>{measuresOf(user)[measure].label}</span>
          <span className={classes.total}>
            <Units value={total[measure].units} />
          </span>
          <span className={classes.label}>
            <span className={classes.meaning}>{measuresOf(user)[measure].about} · </span>
            {texts.usage.messages(total[measure].messages)}
          </span>
        </UnstyledButton>
      ))}
    </fieldset>
  )
}

/** Why units were denied, with links to the denials of the period. */
function DeniedReasons({ user, usage }: { user: ViewedUser; usage: Api['Usage'] }) {
  const { denied_by_reason } = usage.total
  const words = texts.usage[user.isOwn ? 'ownReasons' : 'reasons']
  const reasons = DENIAL_REASONS.filter(reason => denied_by_reason[reason].units > 0)
  if (reasons.length === 0) return null
  return (
    <Text size="xs" c="dimmed">
      {texts.usage.deniedBy}{' '}
      {reasons.map((reason, index) => (
        <Fragment key={reason}>
          {index > 0 && ', '}
          <Anchor component={Link} href={denialsUrl({ reason, from: usage.from, to: usage.to }, user)} inherit>
            {words[reason](formatUnits(denied_by_reason[reason].units))}
          </Anchor>
        </Fragment>
      ))}
    </Text>
  )
}

/** Says up to which day figures are approximate, because older days are kept in the time zone of the service. */
function Approximate({ usage: { items, time_zone } }: { usage: Api['Usage'] }) {
  const last = items.findLast(item => !item.exact)
  if (last === undefined) return null
  return (
    <Text size="xs" c="dimmed">
      {texts.usage.approximate(formatWeekday(noonOf(dayIn(time_zone, last.start))))}
    </Text>
  )
}

/** A cap is drawn that is at most this many times as high as the highest bar. */
const MAX_CAP_FACTOR = 3

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
  const group = shownGroup(usage, state.group_by)
  const names = useQuotaNames(user, group === 'quota')
  const raises = useRaises(user, summary)
  const labelOf = (key: string | number | null) =>
    group === null ? texts.usage.unit : groupLabel(group, key, names, user)
  if (as === 'table')
    return (
      <>
        <Entered usage={usage} group={group} labelOf={labelOf} />
        <UsageTable user={user} words={measuresOf(user)} usage={usage} group={group} labelOf={labelOf} />
      </>
    )

  const words = { label: labelOf, others: texts.usage.others, denied: measuresOf(user).denied.label }
  const { series, rows } = chartDataOf(usage, measure, group, words)
  if (series.length === 0) {
    return (
      <div className={classes.chart}>
        <EmptyState title={measuresOf(user)[measure].none} />
      </div>
    )
  }
  // The forecast is of committed units, from today.
  const isAhead = measure === 'committed' && last === dayIn(usage.time_zone, summary.as_of)
  const daily = isAhead && summary.forecast !== null && summary.forecast.daily_rate > 0 ? summary.forecast : null
  const ahead = daily === null ? [] : daysAhead(rows.length, daily, summary.as_of, usage.time_zone)
  // Where units run out today, there is nothing to draw.
  const forecast = ahead.length > 0 ? daily : null
  const shown = forecast === null ? rows : withForecast(rows, forecast.daily_rate, ahead)
  const dailyCap = dailyCapOf(summary)
  // One that is raised for today bounded the other days by its usual limit.
  const limit = dailyCap === undefined ? null : (raises.get(dailyCap.quota_id)?.from ?? dailyCap.limit)
  // One that is far above the bars would flatten them.
  const cap = measure === 'committed' && limit !== null && limit <= MAX_CAP_FACTOR * maxOf(rows) ? limit : null
  return (
    <>
      {measure === 'committed' && <Entered usage={usage} group={group} labelOf={labelOf} />}
      <div className={classes.chart}>
        <Suspense fallback={<Loading rows={1} height={280} />}>
          <Chart series={series} rows={shown} cap={cap} label={texts.usage.chart(measuresOf(user)[measure].label)} />
        </Suspense>
      </div>
      <Text size="xs" c="dimmed">
        {texts.usage.days(usage.time_zone)}
      </Text>
      <Legend
        series={series}
        cap={cap === null ? null : texts.usage.cap(cap, user.isOwn)}
        forecast={forecast && texts.usage.forecast(forecast.daily_rate)}
      />
    </>
  )
}

/** Which codes were entered, where senders say so. */
function Entered({ usage, group, labelOf }: Pick<Parameters<typeof UsageTable>[0], 'usage' | 'group' | 'labelOf'>) {
  return enteredOf(usage, group).map(({ key, messages, verified }) => (
    <Text key={key} size="xs" c="dimmed">
      {texts.usage.entered(messages, verified, group === null ? null : labelOf(key))}
    </Text>
  ))
}

/** The label of a group. @param names of the user's quotas, by id */
function groupLabel(
  group: Group,
  key: string | number | null,
  names: ReadonlyMap<number, string>,
  { isOwn }: ViewedUser,
): string {
  if (key === null) return texts.usage[isOwn ? 'ownWithout' : 'without'][group]
  if (group === 'country') return countryLabel(String(key))
  if (group === 'message_type') return String(key)
  return names.get(Number(key)) ?? texts.values.unnamed('grant', Number(key), isOwn)
}

interface LegendProps {
  series: readonly Series[]
  cap: string | null
  forecast: string | null
}

/** Legend of the chart: the series, largest first, the cap and the forecast. */
function Legend({ series, cap, forecast }: LegendProps) {
  if (series.length < 2 && cap === null && forecast === null) return null
  return (
    <ul data-plain className={classes.legend}>
      {series.length > 1 &&
        series.map(({ key, label, total, color }) => (
          <li key={key}>
            <span className={classes.swatch} style={{ background: color }} />
            <bdi>{label}</bdi> <span className={classes.number}>{formatUnits(total)}</span>
          </li>
        ))}
      {cap !== null && (
        <li>
          <span className={classes.cap} />
          {cap}
        </li>
      )}
      {forecast !== null && (
        <li>
          <span className={classes.dashes} />
          {forecast}
        </li>
      )}
    </ul>
  )
}
