import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { addDays, dayOf } from '../../model/local-time.ts'
import { isWithinMinutes } from '../../model/run-out.ts'
import { usageQuery } from '../../queries/usage.ts'
import { type Raises, summaryQuery, useRaises } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { Loaded, Loading } from '../loaded.tsx'
import { LongDate } from '../values.tsx'
import { Status } from './status.tsx'
import classes from './summary.module.css'

type SummaryOf = Api['QuotaSummary']

interface SummaryProps {
  user: ViewedUser
  /** What can be asked beside it. */
  children?: ReactNode
}

/** What the user can send now, why not if nothing, and how long it lasts. What each quota has left is below it, once. */
export function Summary({ user, children }: SummaryProps) {
  const summary = useQuery(summaryQuery(user))
  const raises = useRaises(user, summary.data)
  return (
    <Loaded query={summary} loading={<Loading rows={1} height={140} />}>
      {data => (
        <section className={classes.card} aria-label={texts.user.status[user.isOwn ? 'ownLabel' : 'label']}>
          <Status summary={data} raises={raises} user={user} />
          <div className={classes.foot}>
            <Forecast summary={data} raises={raises} user={user} />
            {children}
          </div>
        </section>
      )}
    </Loaded>
  )
}

/** Days whose denials are counted; the report of usage has the same period. */
const DENIAL_DAYS = 30
/** With this share of denials, the rate says little about what the user asks for. */
const NOTABLE_SHARE = 0.1

interface ForecastProps {
  summary: SummaryOf
  raises: Raises
  user: ViewedUser
}

/** How long a user can send at the current rate, caps applied, and what was denied. Nothing without usage. */
function Forecast({ summary, raises, user }: ForecastProps) {
  const { forecast, available, next_reset, as_of, caps } = summary
  const isShown = forecast !== null && forecast.daily_rate > 0
  const last = dayOf(as_of)
  const period = { first: addDays(last, 1 - DENIAL_DAYS), last, group_by: null }
  const { data: usage } = useQuery({ ...usageQuery(user, period), enabled: isShown })
  if (!isShown) return null

  const denied = usage?.total.denied.units ?? 0
  const asked = denied + (usage?.total.committed.units ?? 0)
  const isNotable = denied > 0 && denied >= asked * NOTABLE_SHARE
  const rate = texts.usage.dailyRate(forecast.daily_rate)
  const { unlimited, lasts, lastsEachPeriod, denied: deniedText, now, withoutScoped } = texts.user.forecast
  const enough = available === null ? unlimited : next_reset === null ? lasts : lastsEachPeriod
  const { runs_out_at } = forecast
  const saysWhen = runs_out_at === null ? usage !== undefined && !isNotable : runs_out_at > as_of
  return (
    <Text size="sm" c="dimmed">
      {!saysWhen ? now(rate) : runs_out_at === null ? enough(rate) : endText(summary, raises, runs_out_at, user.isOwn)}{' '}
      {saysWhen && caps.some(isScoped) && `${withoutScoped(user.isOwn)} `}
      {isNotable && deniedText(denied, asked, DENIAL_DAYS)}
    </Text>
  )
}

/** Whether a cap is for certain messages only: the forecast leaves it out. */
function isScoped({ countries, message_types }: SummaryOf['caps'][number]): boolean {
  return countries !== null || message_types !== null
}

/** When sending stops, and by which cap if that is one which has another limit until then. */
function endText({ forecast, caps, as_of }: SummaryOf, raises: Raises, end: string, isOwn: boolean): ReactNode {
  const rate = texts.usage.dailyRate(forecast?.daily_rate ?? 0)
  const at = <LongDate at={end} dateOnly />
  const [cap, other] = caps.filter(cap => !isScoped(cap))
  const raise = cap === undefined || other !== undefined ? undefined : raises.get(cap.quota_id)
  const unitsEnd = forecast?.units_run_out_at ?? null
  const isByCap = raise !== undefined && end >= raise.until && (unitsEnd === null || unitsEnd > end)
  const { runsOut, runsOutSoon, capStops } = texts.user.forecast
  if (isWithinMinutes(end, as_of)) return runsOutSoon(rate)
  return isByCap ? capStops(rate, cap?.period ?? null, isOwn, raise.from, at) : runsOut(rate, at)
}
