import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { formatTimestamp, formatUnits } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import {
  blockingCaps,
  type DeniedAnswer,
  headlineOf,
  isDenied,
  remainsBeyond,
  startsLater,
} from '../../model/answers.ts'
import type { Answer, Scope } from '../../model/scopes.ts'
import { quotaQuery } from '../../queries/quota.ts'
import type { Raises } from '../../queries/user.ts'
import { adjustsQuotas, changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { ErrorNotice } from '../error-notice.tsx'
import { Icon } from '../icon.tsx'
import { PausedText } from '../paused-text.tsx'
import type { QuotaAction } from '../quota-dialogs/quota-dialog.tsx'
import { ExactTime } from '../values.tsx'
import classes from './status.module.css'
import { whyText } from './why-text.ts'

const Contact = lazy(() => import('../contact.tsx'))
const PausesOfUser = lazy(() => import('../holding-pauses.tsx'))
const QuotaDialog = lazy(async () => ({ default: (await import('../quota-dialogs/quota-dialog.tsx')).QuotaDialog }))

type Summary = Api['QuotaSummary']
/** A dialog for a quota that is not loaded yet. */
interface Opening {
  name: QuotaAction['name']
  id: number
}

interface StatusProps {
  summary: Summary
  raises: Raises
  user: ViewedUser
}

/** Whether a user can send now, as enforcement would decide, and what helps if not. */
export function Status({ summary, raises, user }: StatusProps) {
  const { main, others } = headlineOf(summary)
  const [action, setAction] = useState<QuotaAction | null>(null)
  const [message, setMessage] = useState('')
  const queryClient = useQueryClient()
  const opening = useMutation({
    mutationFn: ({ id }: Opening) => queryClient.fetchQuery(quotaQuery(id)),
    onSuccess: (quota, { name }) => setAction({ name, quota, isRemedy: true }),
  })
  const { default_plan: toCome } = summary
  const isComing = startsLater(main) || toCome !== null
  const tone = main.denial === null ? 'good' : isComing ? 'coming' : 'bad'
  return (
    <div className={classes.status} data-tone={tone}>
      <Icon name={main.denial === null ? 'message' : isComing ? 'clock' : 'denials'} size={24} />
      <div className={classes.text}>
        <p className={classes.headline}>
          {toCome !== null ? (
            texts.user.status.planToCome(user.isOwn, toCome.name)
          ) : isDenied(main) ? (
            <>
              {!isComing && !user.isOwn && <Amount>{texts.user.status.can(false, texts.values.units(0))}</Amount>}{' '}
              <Blocked answer={main} summary={summary} isOwn={user.isOwn} />
            </>
          ) : (
            <CanSend answer={main} summary={summary} isOwn={user.isOwn} isOnly={others.every(isDenied)} />
          )}
        </p>
        <Others answers={others} summary={summary} isOwn={user.isOwn} />
        <Paused paused={summary.paused} user={user} />
        <RaisedCaps summary={summary} raises={raises} isOwn={user.isOwn} />
        {isDenied(main) && toCome === null && (
          <Remedy answer={main} summary={summary} user={user} onOpen={opening.mutate} />
        )}
        <ErrorNotice variant="action" error={opening.error} />
        <p className={classes.about} role="status">
          {message}
        </p>
        <Suspense>
          <QuotaDialog action={action} onClose={() => setAction(null)} onDone={setMessage} />
        </Suspense>
      </div>
    </div>
  )
}

/** Paused destinations: users read until when, others also why. */
function Paused({ paused, user: { user_id, isOwn } }: Pick<Summary, 'paused'> & { user: ViewedUser }) {
  const plain = paused.map(pause => (
    <p key={pause.id} className={classes.about}>
      <PausedText pause={pause} />
    </p>
  ))
  if (isOwn) return plain
  return (
    <Suspense fallback={plain}>
      <PausesOfUser user_id={user_id} paused={paused} className={classes.about} />
    </Suspense>
  )
}

/** The one number that the page is about. */
function Amount({ children }: { children: ReactNode }) {
  return <span className={classes.amount}>{children}</span>
}

interface AnswerProps<A extends Answer> {
  answer: A
  summary: Summary
  isOwn: boolean
}

function CanSend({ answer, summary, isOwn, isOnly }: AnswerProps<Answer> & { isOnly: boolean }) {
  const { status } = texts.user
  const { messages } = texts.values
  const { available, countries, message_types } = answer
  const isGeneral = countries === null && message_types === null
  if (available === null && isGeneral) return `${status.canUnlimited(isOwn)}.`
  const units = available === null ? status.unlimited : texts.values.units(available)
  if (!isGeneral)
    return <>{status.canScope(isOwn, messages(countries, message_types), <Amount>{units}</Amount>, isOnly)}.</>
  const until = summary.available_until
  return (
    <>
      <Amount>{status.can(isOwn, units)}</Amount>
      {until !== null &&
        until.units !== available &&
        status.until(formatUnits(until.units), <ExactTime at={until.at} />)}
      .
      <Remains answer={answer} sendable={until?.units ?? available} summary={summary} isOwn={isOwn} />
    </>
  )
}

function Blocked({ answer, summary, isOwn }: AnswerProps<DeniedAnswer>) {
  const { status } = texts.user
  const { retry_at } = answer.denial
  if (retry_at === null) {
    return (
      <>
        {status.blocked(isOwn, whyText(answer, summary, isOwn))}
        <Remains answer={answer} sendable={0} summary={summary} isOwn={isOwn} />
      </>
    )
  }
  const at = <ExactTime at={retry_at} />
  if (startsLater(answer)) return status.startsAt(isOwn, at)
  return (
    <>
      {status.blockedUntil(isOwn, at, whyText(answer, summary, isOwn))}
      <Remains answer={answer} sendable={0} summary={summary} isOwn={isOwn} />
    </>
  )
}

/** What lies in the grants, if that is more than can be sent. */
function Remains({ answer, sendable, summary, isOwn }: AnswerProps<Answer> & { sendable: number | null }) {
  const remaining = remainsBeyond(answer, sendable, summary)
  return remaining !== null && ` ${texts.user.status.remain(remaining, isOwn)}`
}

/** The caps with another limit for their current window only: the headline speaks of that limit. */
function RaisedCaps({
  summary: { caps },
  raises,
  isOwn,
}: Pick<StatusProps, 'summary' | 'raises'> & { isOwn: boolean }) {
  return caps.map(({ quota_id, period }) => {
    const raise = raises.get(quota_id)
    if (raise === undefined) return null
    return (
      <p key={quota_id} className={classes.about}>
        {texts.user.status.raised(period, isOwn, raise.to, formatTimestamp(raise.until), raise.from)}
      </p>
    )
  })
}

/** Enough to see what differs; `check` answers the rest. */
const MAX_OTHERS = 6

/** Messages that are answered otherwise than the headline says. */
function Others({ answers, summary, isOwn }: { answers: Answer[]; summary: Summary; isOwn: boolean }) {
  if (answers.length === 0) return null
  const more = answers.length - MAX_OTHERS
  return (
    <ul className={classes.others}>
      {answers.slice(0, MAX_OTHERS).map(answer => (
        <li key={JSON.stringify([answer.countries, answer.message_types])}>{otherText(answer, summary, isOwn)}</li>
      ))}
      {more > 0 && <li>{texts.user.status.more(more)}</li>}
    </ul>
  )
}

function otherText(answer: Answer, summary: Summary, isOwn: boolean): ReactNode {
  const { status } = texts.user
  const messages = capitalized(messagesOf(answer))
  if (!isDenied(answer)) {
    return status.scope.can(
      messages,
      answer.available === null ? status.unlimited : texts.values.units(answer.available),
    )
  }
  const { retry_at } = answer.denial
  const why = whyText(answer, summary, isOwn)
  if (retry_at === null) return status.scope.blocked(messages, why)
  const at = <ExactTime at={retry_at} />
  return startsLater(answer) ? status.scope.startsAt(messages, at) : status.scope.blockedUntil(messages, at, why)
}

function messagesOf({ countries, message_types }: Scope): string {
  if (countries === null && message_types === null) return texts.user.status.others
  return texts.values.messages(countries, message_types)
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

interface RemedyProps {
  answer: DeniedAnswer
  summary: Summary
  user: ViewedUser
  /** Opens the dialog that changes a quota. */
  onOpen: (opening: Opening) => void
}

/** What helps now: a button for those who may press it. */
function Remedy({ answer, summary, user: { user_id, isOwn }, onOpen }: RemedyProps) {
  const caller = useCaller()
  const { status } = texts.user
  const { reason, limiting_quota_id, retry_at } = answer.denial
  if (isOwn)
    return (
      <Suspense>
        <p className={classes.about}>
          {retry_at === null &&
            reason !== 'no_quota' &&
            `${reason === 'cap_reached' ? status.askForRoom : status.ask} `}
          <Contact />
        </p>
      </Suspense>
    )
  if (reason === 'no_quota') {
    if (!changesQuotas(caller)) return null
    return (
      <Group gap="xs" mt="xs">
        {summary.by_status.suspended !== undefined && (
          <Button component={Link} href={`/quotas?user_id=${user_id}&status=suspended`} size="xs">
            {status.resume}
          </Button>
        )}
        <Button component={Link} href={`/quotas/new?user_id=${user_id}`} size="xs">
          {status.create}
        </Button>
      </Group>
    )
  }
  if (!adjustsQuotas(caller)) return null
  return (
    <Group gap="xs" mt="xs">
      {reason === 'quota_exhausted' && limiting_quota_id !== null && (
        <Button size="xs" onClick={() => onOpen({ name: 'adjust', id: limiting_quota_id })}>
          {status.addUnits}
        </Button>
      )}
      {blockingCaps(answer, summary).map(({ quota_id, name, limit }) =>
        limit !== 0 ? (
          <Button key={quota_id} size="xs" maw="100%" onClick={() => onOpen({ name: 'adjust', id: quota_id })}>
            {name === null ? status.raiseCap : status.raise(name)}
          </Button>
        ) : (
          changesQuotas(caller) && (
            <Button key={quota_id} size="xs" onClick={() => onOpen({ name: 'suspend', id: quota_id })}>
              {status.liftBlock}
            </Button>
          )
        ),
      )}
    </Group>
  )
}
