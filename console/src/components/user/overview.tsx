import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { addDays, dayOf } from '../../model/local-time.ts'
import { isWithinMinutes } from '../../model/run-out.ts'
import { usageQuery } from '../../queries/usage.ts'
import { type Raises, summaryQuery, useRaises } from '../../queries/user.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { Kind } from '../kind.tsx'
import { Loaded, Loading } from '../loaded.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { LongDate, Timestamp, Units } from '../values.tsx'
import { Caps, GrantsByScope } from './limits.tsx'
import { Status } from './status.tsx'
import classes from './summary.module.css'

type SummaryOf = Api['QuotaSummary']

// Below the first screen.
const MessageCheck = lazy(() => import('./message-check.tsx'))
const UsageSection = lazy(() => import('../usage/usage-section.tsx'))
const NotificationsSection = lazy(() => import('./notifications-section.tsx'))
const QuotasSection = lazy(() => import('./quotas-section.tsx'))
const OwnRequests = lazy(() => import('../increase-requests/own-requests.tsx'))
const RequestsOfUser = lazy(() => import('../increase-requests/requests-of-user.tsx'))

/** The first tab of a user: whether messages can be sent, what is left, usage and quotas. */
export default function UserOverview({ user }: { user: ViewedUser }) {
  const caller = useCaller()
  return (
    <>
      <Summary user={user} />
      {!user.isOwn && (
        <Suspense>
          <RequestsOfUser user_id={user.user_id} />
        </Suspense>
      )}
      {!user.isOwn && may(caller, 'check') && (
        <Suspense fallback={<Loading rows={1} height={120} />}>
          <MessageCheck user={user} />
        </Suspense>
      )}
      <Suspense fallback={<Loading rows={1} height={480} />}>
        <UsageSection user={user} />
      </Suspense>
      <Suspense fallback={<Loading height={44} />}>
        <QuotasSection user={user} />
      </Suspense>
      {user.isOwn && (
        <Suspense>
          <OwnRequests />
          <NotificationsSection />
        </Suspense>
      )}
    </>
  )
}

function Summary({ user }: { user: ViewedUser }) {
  const summary = useQuery(summaryQuery(user))
  const raises = useRaises(user, summary.data)
  const { isOwn } = user
  return (
    <Loaded query={summary} loading={<Loading rows={1} height={220} />}>
      {data => (
        <>
          <section className={classes.card} aria-label={texts.user.status[isOwn ? 'ownLabel' : 'label']}>
            <Status summary={data} raises={raises} user={user} />
            {data.breakdown.length > 0 && <Grants summary={data} raises={raises} user={user} />}
          </section>
          <div className={classes.parts}>
            {data.caps.length > 0 && <Caps summary={data} raises={raises} isOwn={isOwn} />}
            <GrantsByScope summary={data} isOwn={isOwn} />
          </div>
        </>
      )}
    </Loaded>
  )
}

interface GrantsProps {
  summary: SummaryOf
  raises: Raises
  user: ViewedUser
}

/** The totals of all grants. Figures that are zero or do not apply are left out. */
function Grants({ summary, raises, user }: GrantsProps) {
  const { isOwn } = user
  const { grants, ownGrants } = texts.user.summary
  return (
    <div className={classes.grants}>
      <Kind kind="grant" label={isOwn ? texts.user.ownKinds.grant : undefined}>
        {isOwn ? ownGrants : grants}
      </Kind>
      <UsageBar {...summary} isLarge />
      <Figures summary={summary} />
      <Forecast summary={summary} raises={raises} user={user} />
    </div>
  )
}

function Figures({ summary: { limit, reserved, overage, next_reset, next_expiry } }: { summary: SummaryOf }) {
  const { summary } = texts.user
  return (
    <dl className={classes.figures}>
      <Figure label={summary.limit}>
        <Units value={limit} />
      </Figure>
      {reserved > 0 && (
        <Figure label={summary.reserved} about={summary.reservedAbout}>
          <Units value={reserved} />
        </Figure>
      )}
      {overage > 0 && (
        <Figure label={summary.overage}>
          <Units value={overage} />
        </Figure>
      )}
      {next_reset !== null && (
        <Figure label={summary.nextReset} about={next_reset.units > 0 && summary.restored(next_reset.units)}>
          <Timestamp at={next_reset.at} />
        </Figure>
      )}
      {next_expiry !== null && (
        <Figure label={summary.nextExpiry} about={next_expiry.units !== 0 && summary.expiring(next_expiry.units)}>
          <Timestamp at={next_expiry.at} />
        </Figure>
      )}
    </dl>
  )
}

function Figure({ label, about, children }: { label: string; about?: string | false; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={classes.value}>{children}</dd>
      {about && <dd className={classes.about}>{about}</dd>}
    </div>
  )
}

/** Days whose denials are counted; the report of usage has the same period. */
const DENIAL_DAYS = 30
/** With this share of denials, the rate says little about what the user asks for. */
const NOTABLE_SHARE = 0.1

/** How long a user can send at the current rate, caps applied, and what was denied. Nothing without usage. */
function Forecast({ summary, raises, user }: GrantsProps) {
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
