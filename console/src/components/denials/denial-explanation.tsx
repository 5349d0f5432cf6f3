import { Anchor, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { MAX_LOGGED_LINES } from '../../../../src/domain/basics/bounds.ts'
import type { DenialReason } from '../../../../src/domain/units/reservation.ts'
import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../formats.ts'
import { holdsFor } from '../../model/pauses.ts'
import { isBlock } from '../../model/quota-status.ts'
import { denialQuery, type Scope, userOf } from '../../queries/denials.ts'
import { activePausesQuery } from '../../queries/pauses.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { adjustsQuotas, changesQuotas } from '../../session/rights.ts'
import { type Caller, useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { StatusBadge } from '../badge.tsx'
import { ErrorNotice } from '../error-notice.tsx'
import { HoldingPauses } from '../holding-pauses.tsx'
import { MessageLink, QuotaLink } from '../links.tsx'
import { Loaded, Loading } from '../loaded.tsx'
import type { QuotaAction } from '../quota-dialogs/quota-dialog.tsx'
import { countedText, perValueText } from '../quota-labels.ts'
import { UserLink } from '../user-link.tsx'
import { Sender, Timestamp } from '../values.tsx'
import { Block } from './block.tsx'
import classes from './denial-explanation.module.css'

const Contact = lazy(() => import('../contact.tsx'))

type Denial = Api['DenialDetail']
type Line = Denial['explain'][number]
interface DenialProps {
  denial: Denial
  scope: Scope
}
interface ExplanationProps {
  scope: Scope
  denialId: string
  /** Confirms what was done about it. */
  done: string
  /** Opens the dialog that changes a quota. */
  onAction: (action: QuotaAction) => void
}

/** Why a message was denied: what was asked for, what was found for each quota, and what helps. */
export function DenialExplanation({ scope, denialId, done, onAction }: ExplanationProps) {
  const denial = useQuery(denialQuery(scope, denialId))
  const { reasonSentences, ownReasonSentences, explanation } = texts.denials
  return (
    <Loaded query={denial} loading={<Loading rows={4} height={34} />}>
      {data => (
        <>
          <Text mb="sm">{(scope?.isOwn ? ownReasonSentences : reasonSentences)[data.reason]}</Text>
          <p className={classes.then}>{explanation.asOfThen(<Timestamp at={data.at} />)}</p>
          <Request denial={data} scope={scope} />
          <Text component="h3" size="sm" fw={600} mt="md" mb="0.25rem">
            {explanation.considered}
          </Text>
          <Quotas denial={data} scope={scope} />
          <Remedy denial={data} scope={scope} onAction={onAction} />
          {scope?.isOwn && (
            <Suspense>
              <Text size="sm" c="dimmed" mt="0.4rem">
                <Contact />
              </Text>
            </Suspense>
          )}
          <Text role="status" size="sm" c="dimmed" mt="0.4rem">
            {done}
          </Text>
        </>
      )}
    </Loaded>
  )
}

function Request({ denial, scope }: DenialProps) {
  const { id, at, country, message_type, sender = null, retry_at } = denial
  const { explanation, noCountry, waitingDoesNotHelp } = texts.denials
  return (
    <dl className={classes.request}>
      <dt>{explanation.message}</dt>
      <dd>
        <MessageLink user={userOf(scope, denial)} id={id} />
      </dd>
      {!scope?.isOwn && (
        <>
          <dt>{explanation.user}</dt>
          <dd>
            <UserLink user={denial} inherit />
          </dd>
        </>
      )}
      <dt>{explanation.denied}</dt>
      <dd>
        <Timestamp at={at} />
      </dd>
      <dt>{explanation.destination}</dt>
      <dd>
        {country === null ? noCountry : countryLabel(country)}
        {message_type !== null && `, ${message_type}`}
      </dd>
      <dt>{explanation.asked}</dt>
      <dd>{askedText(denial)}</dd>
      {sender !== null && (
        <>
          <dt>{explanation.sender}</dt>
          <dd>
            <Sender subject={sender} />
          </dd>
        </>
      )}
      <dt>{explanation.retryAt}</dt>
      <dd>
        <Timestamp at={retry_at} none={waitingDoesNotHelp} />
      </dd>
    </dl>
  )
}

function askedText({ units, allow_partial, remaining }: Denial): string {
  const { orFewer, sendable } = texts.denials.explanation
  const asked = allow_partial ? orFewer(texts.values.units(units)) : texts.values.units(units)
  // Null is unlimited, which a denial never is.
  return remaining === null ? asked : sendable(asked, remaining)
}

function Quotas({ denial, scope }: DenialProps) {
  const { explain } = denial
  const { noQuotas, incomplete } = texts.denials.explanation
  if (explain.length === 0)
    return (
      <Text size="sm" c="dimmed" mt="0.4rem">
        {noQuotas}
      </Text>
    )
  return (
    <>
      <ul data-plain className={classes.quotas}>
        {explain.map(line => (
          <li key={line.quota_id}>
            <QuotaLink id={line.quota_id} kind={line.kind} user={userOf(scope, denial)} />
            <div className={classes.verdict}>{verdict(line, denial)}</div>
          </li>
        ))}
      </ul>
      {explain.length >= MAX_LOGGED_LINES && (
        <Text size="sm" c="dimmed" mt="0.4rem">
          {incomplete(MAX_LOGGED_LINES)}
        </Text>
      )}
    </>
  )
}

/** Why a quota did or did not count for a denied message. */
function verdict({ kind, verdict, expires_at }: Line, { reason, country, message_type }: Denial): ReactNode {
  const { verdicts, endedOn } = texts.denials.explanation
  switch (verdict) {
    case 'has_headroom':
      if (kind === 'cap') return verdicts.capHasRoom
      return reason === 'quota_exhausted' ? verdicts.hasTooFewUnits : verdicts.hasUnits
    case 'expired':
      return expires_at === undefined ? verdicts.expired : endedOn(<Timestamp at={expires_at} />)
    case 'other_country':
      return country === null ? verdicts.needsCountry : verdicts.otherCountry(country)
    case 'other_message_type':
      return message_type === null ? verdicts.needsType : verdicts.otherType(message_type)
    case 'not_needed':
      return verdicts.notNeeded
    default:
      return verdicts[verdict]
  }
}

type RemedyProps = DenialProps & Pick<ExplanationProps, 'onAction'>

/** What to do about a denial, for those who may do it. */
function Remedy({ denial, scope, onAction }: RemedyProps) {
  const { helps, askForMore, askForRoom } = texts.denials.explanation
  const caller = useCaller()
  // Of a pause, users read that there is one.
  const ownRemedies = {
    destination_paused: null,
    cap_reached: askForRoom,
    quota_exhausted: askForMore,
    no_quota: askForMore,
  } satisfies Record<DenialReason, ReactNode>
  const remedy = scope?.isOwn ? ownRemedies[denial.reason] : remedyFor(denial, caller, onAction)
  if (remedy === null) return null
  return (
    <>
      <Text component="h3" size="sm" fw={600} mt="md" mb="0.25rem">
        {helps}
      </Text>
      <div className={classes.remedy}>{remedy}</div>
    </>
  )
}

function remedyFor(denial: Denial, caller: Caller, onAction: RemedyProps['onAction']): ReactNode {
  if (denial.reason === 'no_quota') {
    if (!changesQuotas(caller)) return null
    return (
      <Anchor component={Link} href={grantUrl(denial)} size="sm">
        {texts.denials.explanation.createGrant}
      </Anchor>
    )
  }
  if (denial.reason === 'destination_paused' && denial.country !== null)
    return <Pauses country={denial.country} denial={denial} />
  if (denial.limiting_quota_id === null) return null
  return <LimitingQuota id={denial.limiting_quota_id} denial={denial} onAction={onAction} />
}

/** The pauses that would deny the message now, and the way to lift them. */
function Pauses({ country, denial }: { country: string; denial: Denial }) {
  const { data, error } = useQuery(activePausesQuery(country, denial.user_id))
  const [done, setDone] = useState('')
  if (error !== null) return <ErrorNotice variant="action" error={error} />
  if (data === undefined) return <Loading rows={1} height={34} />
  const holding = data.filter(pause => holdsFor(pause, denial))
  return (
    <>
      <HoldingPauses pauses={holding} onLifted={setDone} />
      <p role="status">{done === '' && holding.length === 0 ? texts.pauses.noLonger : done}</p>
    </>
  )
}

interface LimitingQuotaProps extends Pick<RemedyProps, 'onAction'> {
  id: number
  denial: Denial
}

/** The quota that limited the message, as it is now: someone may have given it more units since. */
function LimitingQuota({ id, denial, onAction }: LimitingQuotaProps) {
  const { data: quota, error } = useQuery(quotaQuery(id))
  const canAdjust = adjustsQuotas(useCaller())
  const { raiseCap, addUnits, now } = texts.denials.explanation
  if (error !== null) return <ErrorNotice variant="action" error={error} />
  if (quota === undefined) return <Loading rows={1} height={34} />
  const { user_id, kind, limit, rolled_over, used, reserved, status, counts } = quota
  const link = (
    <>
      <QuotaLink id={id} kind={kind} user={{ user_id, isOwn: false }} /> <StatusBadge quota={quota} />
    </>
  )
  if (status === 'deleted' || limit === null) return link
  if (isBlock(quota)) {
    return (
      <>
        {link}
        <Block quota={quota} onLift={() => onAction({ name: 'suspend', quota })} />
      </>
    )
  }
  const whole = limit + rolled_over
  const left = used === null || reserved === null ? null : Math.max(0, whole - used - reserved)
  // A cap that counts messages needs room for one.
  const needed = counts === 'messages' ? 1 : denial.units
  const isEnough = status === 'active' && left !== null && left >= needed
  return (
    <>
      {link}
      <p>
        {left === null ? <ValueLimit quota={quota} denial={denial} /> : now.left(left, countedText(whole, counts))}
        {isEnough && now.enough}
      </p>
      {canAdjust && (
        <Button
          size="xs"
          mt="xs"
          variant={isEnough ? 'default' : 'filled'}
          onClick={() => onAction({ name: 'adjust', quota, isRemedy: kind === 'cap' })}
        >
          {kind === 'cap' ? raiseCap : addUnits}
        </Button>
      )}
    </>
  )
}

/** What each value gets of a cap that counts each by itself: which one the message named is not kept. */
function ValueLimit({ quota, denial }: { quota: Api['SmsQuota']; denial: Denial }) {
  const { per, period, limit, counts } = quota
  const { reached, again } = texts.denials.explanation.now
  if (per === null || period === null) return null
  const rule = `${perValueText({ limit, per, counts })}, ${texts.quotas.each[period]}`
  return (
    <>
      {reached[per](rule)} {denial.retry_at !== null && again(<Timestamp at={denial.retry_at} />)}
    </>
  )
}

/** The form of a grant that would have covered the message. */
function grantUrl({ user_id, country, message_type }: Denial): string {
  const query = new URLSearchParams({ kind: 'grant', user_id: String(user_id) })
  if (country !== null) query.set('countries', country)
  if (message_type !== null) query.set('message_types', message_type)
  return `/quotas/new?${query}`
}
