import type { Api } from '../../api/types.ts'
import type { Tone } from '../../components/badge.tsx'
import { countedText } from '../../components/quota-labels.ts'
import { countryLabel, formatTimestamp } from '../../formats.ts'
import { purposeOf } from '../../model/events.ts'
import { raiseOf } from '../../model/raised-cap.ts'
import { useNames } from '../../queries/names.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'

type Quota = Api['SmsQuota']
type Event = Api['Event']
type Pause = Api['Pause']

/** An event as the activity feed shows it: "Monthly package reached 80%: 20 units left". */
export interface EventText {
  tone: Tone
  /** The name of the quota, reservation or webhook, and the path of its page. */
  subject: string
  href?: string
  /** What happened to it, as a predicate. */
  text: string
  /** What is said of several events of this kind: "threshold reached: 80%". Events of one kind have the same. */
  kind: string
}

/** Who reads events, and the names of their actors by subject. */
interface Reader {
  subject: string
  names: ReadonlyMap<string, string>
}

export function useReader(events: readonly Event[]): Reader {
  const { subject } = useCaller()
  const names = useNames(events.flatMap(({ data }) => ('quota' in data ? [data.quota.updated_by ?? ''] : [])))
  return { subject, names }
}

/** Describes an event. An event type that this version does not know is shown by its name. */
export function eventText({ type, data, at }: Event, reader: Reader): EventText {
  const { events } = texts.overviewParts
  const { kinds } = texts.overviewParts.activity
  switch (type) {
    case 'quota.created': {
      const by = actorOf(data.quota, reader)
      const text = events.created(by, allowance(data.quota, at))
      return { ...quotaSubject(data), tone: 'coming', text, kind: kinds.created[purposeOf(data.quota)](by) }
    }
    case 'quota.updated': {
      const by = actorOf(data.quota, reader)
      const text = events.updated(by, allowance(data.quota, at))
      return { ...quotaSubject(data), tone: 'over', text, kind: kinds.updated(by) }
    }
    case 'quota.deleted': {
      const by = actorOf(data.quota, reader)
      return { ...quotaSubject(data), tone: 'over', text: events.deleted(by), kind: kinds.deleted(by) }
    }
    case 'quota.threshold_reached':
      return thresholdText(data)
    case 'quota.expired':
      return { ...quotaSubject(data), tone: 'over', text: events.ended, kind: kinds.ended }
    case 'reservation.expired': {
      const { reservation, released, committed } = data
      const text = committed > 0 ? events.expiredCommitted(committed) : events.expiredReleased(released)
      return { subject: events.reservation(reservation.id), tone: 'over', text, kind: kinds.expired }
    }
    case 'transfer.made':
    case 'transfer.returned': {
      const { units, direction } = data
      const text = events.transferred[type][direction](units)
      return { ...quotaSubject(data), tone: 'coming', text, kind: kinds.transferred[type] }
    }
    case 'request.made':
    case 'request.decided': {
      const { units, status } = data.request
      const tone = status === 'open' ? 'held' : 'over'
      const subject = events.request(units)
      return { subject, tone, text: events.requested[status], kind: kinds.requested[status] }
    }
    case 'pause.made':
    case 'pause.lifted':
    case 'breaker.tripped': {
      const { country } = data.pause
      const text = events.paused[type](pauseValues(data.pause))
      const tone = type === 'pause.lifted' ? 'over' : 'bad'
      return {
        subject: countryLabel(country),
        href: `/pauses?country=${country}`,
        tone,
        text,
        kind: kinds.paused[type],
      }
    }
    case 'webhook.disabled': {
      const { id, description, disabled_reason } = data.webhook
      const text = disabled_reason === 'gone' ? events.disabledGone : events.disabledFailing
      const subject = description ?? events.webhook(id)
      return { subject, href: `/webhooks/${id}`, tone: 'bad', text, kind: kinds.disabled }
    }
    case 'user.erased': {
      const subject = texts.overview.user(data.erasure.user_id)
      return { subject, tone: 'over', text: events.erased, kind: kinds.erased }
    }
    default: {
      const unknown: never = type
      return { subject: '', tone: 'over', text: unknown, kind: unknown }
    }
  }
}

/** "you", the name and the subject of the token, a user by the id, or the subject of a machine or of an account elsewhere. */
function actorOf({ updated_by }: Quota, { subject, names }: Reader): string {
  // Only users do not read it, and they read no events.
  const actor = updated_by ?? ''
  if (actor === subject) return texts.overviewParts.you
  const isUser = /^\d+$/.test(actor)
  const name = names.get(actor)
  if (name !== undefined && name !== actor) return `${name} · ${actor}`
  return isUser ? texts.overview.user(Number(actor)) : actor
}

function thresholdText({ quota, percent }: { quota: Quota; percent: number }): EventText {
  const { events } = texts.overviewParts
  const { kinds } = texts.overviewParts.activity
  if (percent >= 100) return { ...quotaSubject({ quota }), tone: 'bad', text: events.exhausted, kind: kinds.exhausted }
  const text = events.reached(percent, quota.remaining)
  return { ...quotaSubject({ quota }), tone: 'held', text, kind: kinds.threshold(percent) }
}

function quotaSubject({ quota }: { quota: Quota }): Pick<EventText, 'subject' | 'href'> {
  return { subject: quota.name ?? texts.overviewParts.events.quota(quota.id), href: `/quotas/${quota.id}` }
}

/** What a quota allows, and from when and until when. @param at the time of the event */
function allowance(quota: Quota, at: string): string {
  const { limit, period, enabled, starts_at, expires_at, counts } = quota
  // Events of an earlier version have none.
  const { per = null } = quota
  const { unlimited, each, from, until, raised, suspended } = texts.overviewParts.events
  const perPeriod = period === null ? '' : each[period]
  const raise = raiseOf(quota)
  const size =
    raise === null
      ? `${limit === null ? unlimited : countedText(limit, counts)}${perPeriod}${per === null ? '' : texts.values.per[per]}`
      : raised(
          countedText(raise.to, counts),
          formatTimestamp(raise.until),
          `${countedText(raise.from, counts)}${perPeriod}`,
        )
  const start = Date.parse(starts_at) > Date.parse(at) ? from(formatTimestamp(starts_at)) : ''
  const end = raise !== null || expires_at === null ? '' : until(formatTimestamp(expires_at))
  return `${size}${start}${end}${enabled ? '' : suspended}`
}

const pauseValues = ({ user_id, until, observed, evidence }: Pause) => ({
  isForAll: user_id === null,
  until: until && formatTimestamp(until),
  observed,
  codes: Math.round(evidence?.counted ?? 0),
})
