import { Button, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { DenialDialog } from '../../components/denials/denial-dialog.tsx'
import { limitingKindOf } from '../../components/denials/denial-table.tsx'
import { QuotaLink } from '../../components/links.tsx'
import { Sender, Timestamp } from '../../components/values.tsx'
import type { ViewedUser } from '../../model/addresses.ts'
import type { Message, MessageReservation } from '../../queries/messages.ts'
import { texts } from '../../texts/texts.ts'
import classes from './message.module.css'

/** One thing that happened to a message. */
interface Step {
  key: string
  tone: Tone
  title: string
  /** When; null if it is not recorded, undefined for what has not happened yet. */
  at?: string | null
  /** The subject of the sender's token; null if it is not known or not shown. */
  by: string | null
  details: ReactNode
}

/** What happened to a message, oldest first: denials, the reservation, and what became of its units. */
export function Timeline({ message, user }: { message: Message; user: ViewedUser }) {
  const { earlier, unknownTime, by } = texts.denials.message
  /** The id of the denial whose explanation is open. */
  const [explained, setExplained] = useState<string | null>(null)
  return (
    <>
      {message.hasMoreDenials && (
        <Text size="xs" c="dimmed">
          {earlier}
        </Text>
      )}
      <ol data-plain className={classes.steps}>
        {stepsOf(message, user, setExplained).map(step => (
          <li key={step.key} data-tone={step.tone}>
            <Badge tone={step.tone}>
              <b>{step.title}</b>
            </Badge>
            <div className={classes.details}>
              {step.at !== undefined && <Timestamp at={step.at} none={unknownTime} />}
              {step.by !== null && <> {by(<Sender subject={step.by} />)}</>}
              {step.details}
            </div>
          </li>
        ))}
      </ol>
      <DenialDialog scope={user} denialId={explained} onClose={() => setExplained(null)} />
    </>
  )
}

type Explain = (denialId: string) => void

function stepsOf({ reservation, denials }: Message, user: ViewedUser, onExplain: Explain): Step[] {
  const denied = denials.toReversed().map(denial => denialStep(denial, user, onExplain))
  if (reservation === null) return denied
  return [
    ...denied,
    madeStep(reservation, user),
    ...settledSteps(reservation, user),
    ...verifiedSteps(reservation, user),
    ...outstandingSteps(reservation, user),
  ]
}

function denialStep(denial: Api['DenialRecord'], user: ViewedUser, onExplain: Explain): Step {
  const { denial_id, at, reason, units, remaining, limiting_quota_id, sender = null, retry_at } = denial
  const { denied, askedFor, limitedBy, retryAt, explain } = texts.denials.message
  const { ownReasons, reasonSentences, ownReasonSentences, waitingDoesNotHelp } = texts.denials
  return {
    key: denial_id,
    tone: 'bad',
    title: denied(user.isOwn ? ownReasons[reason] : texts.values.denialReasons[reason]),
    at,
    by: sender,
    details: (
      <>
        <p>
          {askedFor(texts.values.units(units))}. {user.isOwn ? ownReasonSentences[reason] : reasonSentences[reason]}
        </p>
        {limiting_quota_id !== null && (
          <p>{limitedBy(<QuotaLink id={limiting_quota_id} kind={limitingKindOf(reason)} user={user} />, remaining)}</p>
        )}
        <p>{retry_at === null ? waitingDoesNotHelp : retryAt(<Timestamp at={retry_at} />)}</p>
        <Button variant="default" size="compact-xs" mt={4} aria-haspopup="dialog" onClick={() => onExplain(denial_id)}>
          {explain}
        </Button>
      </>
    ),
  }
}

/** For the user whose message it is, without operator's words. */
export function wordsFor({ isOwn }: ViewedUser): typeof texts.denials.message {
  return isOwn ? { ...texts.denials.message, ...texts.denials.message.own } : texts.denials.message
}

function madeStep(reservation: MessageReservation, user: ViewedUser): Step {
  const { id, op, units, asked, force, unfunded, created_at, made_by = null } = reservation
  const words = wordsFor(user)
  const shown = texts.values.units(units)
  // Ids of senders do not start with an underscore.
  const title = id.startsWith('_')
    ? (id.startsWith('_transfer:') ? words.transferred : words.opening)(shown)
    : op === 'consume'
      ? words.consumed(shown)
      : words.reserved(shown)
  return {
    key: 'made',
    tone: 'coming',
    title,
    at: created_at,
    by: made_by,
    details: (
      <>
        {asked > units && <p>{words.fewerThanAsked(texts.values.units(asked))}</p>}
        {force && <p>{words.forced}</p>}
        <Draws reservation={reservation} user={user} />
        {unfunded > 0 && <p>{(user.isOwn ? words.ownUnfunded : words.unfunded)(texts.values.units(unfunded))}</p>}
      </>
    ),
  }
}

/** The grants that pay for the message, and the caps that count it. */
function Draws({ reservation: { draws }, user }: { reservation: MessageReservation; user: ViewedUser }) {
  const { charged, counted, draw } = texts.denials.message
  return (['grant', 'cap'] as const).map(kind => {
    const ofKind = draws.filter(one => one.kind === kind)
    if (ofKind.length === 0) return null
    return (
      <div key={kind}>
        <p>{kind === 'grant' ? charged : counted}</p>
        <ul className={classes.draws}>
          {ofKind.map(({ quota_id, units, window_start }) => (
            <li key={quota_id}>
              <QuotaLink id={quota_id} kind={kind} user={user} />:{' '}
              {draw(texts.values.units(units), <Timestamp at={window_start} />)}
            </li>
          ))}
        </ul>
      </div>
    )
  })
}

/** Commits and releases, then forced commits and refunds, whose times are recorded one by one. */
function settledSteps(reservation: MessageReservation, user: ViewedUser): Step[] {
  const { op, force, state, committed, released, refunded, changed_at, settled_by = null, actions = [] } = reservation
  const words = wordsFor(user)
  const units = texts.values.units
  const parts = [
    ...(committed > 0 && op === 'reserve' ? [words.committed(units(committed))] : []),
    ...(released > 0 ? [state === 'expired' ? words.expired(units(released)) : words.released(units(released))] : []),
  ]
  // A refund came later, so that the last change and its author are the refund's.
  const isLast = refunded === 0
  const settled: Step[] =
    parts.length === 0
      ? []
      : [
          {
            key: 'settled',
            tone: committed > 0 ? 'good' : 'over',
            title: parts.join(' · '),
            at: isLast ? changed_at : null,
            by: isLast ? settled_by : null,
            details: null,
          },
        ]
  // The booking itself is the first forced action of a forced reservation.
  const recorded = actions
    .filter(({ action }) => action === 'refund' || !force)
    .map(action => actionStep(action, words))
  const isRecorded = actions.some(({ action }) => action === 'refund')
  if (refunded === 0 || isRecorded) return [...settled, ...recorded]
  const refund: Step = {
    key: 'refunded',
    tone: 'held',
    title: words.refunded(units(refunded)),
    at: changed_at,
    by: settled_by,
    details: null,
  }
  return [...settled, ...recorded, refund]
}

function actionStep(
  { action, total_units, at, by, request_id }: Api['AuthoredRecord']['actions'][number],
  { refunded, committedByForce, request }: typeof texts.denials.message,
): Step {
  const units = texts.values.units(total_units)
  return {
    key: `${action} ${total_units}`,
    tone: 'held',
    title: action === 'refund' ? refunded(units) : committedByForce(units),
    at,
    by,
    details: (
      <Text size="xs" c="dimmed">
        {request(request_id)}
      </Text>
    ),
  }
}

/** When a code was entered is not recorded. */
function verifiedSteps({ verified }: MessageReservation, user: ViewedUser): Step[] {
  if (!verified) return []
  return [{ key: 'verified', tone: 'good', title: wordsFor(user).verified, at: null, by: null, details: null }]
}

/** What is still to come. */
function outstandingSteps(
  { units, committed, released, expires_at, on_expiry }: MessageReservation,
  user: ViewedUser,
): Step[] {
  const { outstanding, releasedAt, committedAt } = wordsFor(user)
  if (expires_at === null) return []
  const time = <Timestamp at={expires_at} />
  return [
    {
      key: 'outstanding',
      tone: 'coming',
      title: outstanding(texts.values.units(units - committed - released)),
      by: null,
      details: on_expiry === 'release' ? releasedAt(time) : committedAt(time),
    },
  ]
}
