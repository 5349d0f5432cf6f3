/** The texts of messages in English. The type of each other language is made from it. */
import type { OwnEventType } from '../domain/events/event.ts'
import type { DataOf, Label, MessageType, QuotaFacts, RequestFacts } from './facts.ts'

/** The words of a language for what is in a text. */
export interface Words {
  /** The user that an event is of; all users, if it concerns each. */
  readonly user: string
  number(value: number): string
  country(code: string): string
  /** What most countries but a few, some countries, or many are. */
  countries(codes: readonly string[]): string
  list(words: readonly string[]): string
}

/** After these, there is nothing to do. */
type WithoutAdvice =
  | ('quota.created' | 'quota.updated' | 'quota.deleted' | 'transfer.made' | 'transfer.returned')
  | ('request.decided' | 'pause.lifted')

/** The texts for a user about the user's own events. */
export interface OwnTexts {
  /** What happened, as a line. */
  readonly titles: { readonly [Name in OwnEventType]: (data: DataOf<Name>, words: Words) => string }
  /** What to do. Null: nothing. */
  readonly advice: { readonly [Name in Exclude<OwnEventType, WithoutAdvice>]: (data: DataOf<Name>) => string | null }
  readonly many: (count: string) => string
  readonly open: string
  readonly footer: (at: string) => string
  readonly stop: string
  /** The message with the link that confirms the address. */
  readonly confirm: { readonly title: string; readonly advice: string; readonly link: string; readonly footer: string }
}

/** The texts of a language. */
export interface Texts {
  readonly nameOfUser: (id: number) => string
  readonly allUsers: string
  /** What the country of international networks is called. */
  readonly international: string
  readonly allBut: (countries: string) => string
  readonly manyCountries: (count: string) => string
  /** What happened, as a line. */
  readonly titles: { readonly [Name in MessageType]: (data: DataOf<Name>, words: Words) => string }
  /** What to do. Null: nothing. */
  readonly advice: { readonly [Name in Exclude<MessageType, WithoutAdvice>]: (data: DataOf<Name>) => string | null }
  /** The name of a type, in a message about many events. */
  readonly types: Readonly<Record<MessageType, string>>
  readonly labels: Readonly<Record<Label, string>>
  /** An event of a type, or with data, of another version. */
  readonly unknown: (type: string, words: Words) => string
  readonly many: {
    readonly title: (count: string) => string
    /** The title of a message that goes out once a day. */
    readonly digest: (count: string) => string
    readonly more: (count: string) => string
    readonly advice: string
  }
  readonly open: string
  readonly footer: (id: number, at: string) => string
  readonly own: OwnTexts
}

const quotaName = ({ id, name }: QuotaFacts) => (name === null ? `quota ${id}` : `“${name}”`)
const units = (count: number, { number }: Words) => `${number(count)} ${count === 1 ? 'unit' : 'units'}`

/** The messages that the quota is for. An event that does not say so names the first country and type. */
export function scopeOf({ quota, sendable }: Pick<DataOf<'quota.threshold_reached'>, 'quota' | 'sendable'>) {
  const only = (first: string | null | undefined) => (first == null ? null : [first])
  return {
    countries: quota.countries ?? only(sendable?.country),
    types: quota.message_types ?? only(sendable?.message_type),
  }
}

/** What the user can still send, which other quotas pay for, too. An event that does not say it has what its quota has left. */
function leftOf({ quota, sendable }: DataOf<'quota.threshold_reached'>, words: Words): string | null {
  if (sendable === undefined) return quota.remaining === null ? null : `${units(quota.remaining, words)} left`
  const { countries, types } = scopeOf({ quota, sendable })
  const places = [
    countries === null ? [] : `to ${words.countries(countries)}`,
    types === null ? [] : `of type ${words.list(types)}`,
  ]
  const what = ['messages', ...places.flat()].join(' ')
  return sendable.units === null ? `No limit on ${what}` : `${units(sendable.units, words)} left for ${what}`
}

function decidedText(by: string, { status, units: asked, granted }: RequestFacts, words: Words): string {
  const whose = `${by} for ${units(asked, words)}`
  if (status !== 'approved') return `${whose} was ${status}`
  return granted === null || granted.units === asked
    ? `${whose} was approved`
    : `${whose} was approved with ${words.number(granted.units)}`
}

const ownQuota = ({ name }: QuotaFacts) => (name === null ? 'your quota' : `your quota “${name}”`)
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const own: OwnTexts = {
  titles: {
    'quota.created': ({ quota }) => `You have a new quota${quota.name === null ? '' : `: “${quota.name}”`}`,
    'quota.updated': ({ quota }) => `${capital(ownQuota(quota))} was changed`,
    'quota.deleted': ({ quota }) => `${capital(ownQuota(quota))} was removed`,
    'quota.threshold_reached': (data, words) => {
      const used = `You have used ${data.percent}% of ${ownQuota(data.quota)}`
      return [used, leftOf(data, words)].filter(part => part !== null).join(': ')
    },
    'quota.expired': ({ quota }) => `${capital(ownQuota(quota))} has expired`,
    'transfer.made': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `You received ${units(moved, words)} from another user`
        : `${units(moved, words)} of yours were transferred to another user`,
    'transfer.returned': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `You got ${units(moved, words)} back from a transfer`
        : `You gave ${units(moved, words)} of a transfer back`,
    'request.decided': ({ request }, words) => decidedText('Your request', request, words),
    'pause.made': ({ pause }, { country }) => `Your messages to ${country(pause.country)} are paused`,
    'pause.lifted': ({ pause }, { country }) => `Your messages to ${country(pause.country)} are no longer paused`,
    'breaker.tripped': ({ pause }, { country }) =>
      pause.observed
        ? `Unusual traffic: your messages to ${country(pause.country)} would be paused`
        : `Unusual traffic: your messages to ${country(pause.country)} are paused`,
  },
  advice: {
    'quota.threshold_reached': ({ quota }) =>
      quota.remaining === 0
        ? quota.kind === 'cap'
          ? 'Such messages are denied until the limit counts anew.'
          : 'Messages that no other quota pays are denied. Ask for more units if you need them.'
        : 'Ask for more units if these will not be enough.',
    'quota.expired': () => 'Messages that no other quota pays are denied.',
    'pause.made': () => 'Such messages are denied until the pause ends or is lifted.',
    'breaker.tripped': ({ pause }) =>
      pause.observed ? null : 'Such messages are denied until the pause ends or is lifted.',
  },
  many: count => `${count} events of your quotas`,
  open: 'Open your quotas',
  footer: at => `${at} · You get this message because you confirmed this address.`,
  stop: 'Stop these messages',
  confirm: {
    title: 'Confirm your e-mail address',
    advice:
      'Messages about your SMS quotas are to go to this address. Follow the link to confirm it; it is valid for a day.',
    link: 'Confirm',
    footer: 'If you did not ask for this, do nothing: you get no further message.',
  },
}

export const english: Texts = {
  nameOfUser: id => `user ${id}`,
  allUsers: 'all users',
  international: 'international networks',
  allBut: countries => `all countries but ${countries}`,
  manyCountries: count => `${count} countries`,
  titles: {
    'quota.created': ({ quota }, { user }) => `New quota ${quotaName(quota)} for ${user}`,
    'quota.updated': ({ quota }, { user }) => `Quota ${quotaName(quota)} of ${user} was changed`,
    'quota.deleted': ({ quota }, { user }) => `Quota ${quotaName(quota)} of ${user} was deleted`,
    'quota.threshold_reached': (data, words) => {
      const used = `${quotaName(data.quota)} of ${words.user} is ${data.percent}% used`
      return [leftOf(data, words), used].filter(part => part !== null).join(': ')
    },
    'quota.expired': ({ quota }, { user }) => `Quota ${quotaName(quota)} of ${user} has expired`,
    'reservation.expired': ({ released, committed }, words) =>
      committed > 0
        ? `A reservation of ${words.user} expired: ${units(committed, words)} counted as sent`
        : `A reservation of ${words.user} expired: ${units(released, words)} given back`,
    'transfer.made': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `${words.user} received ${units(moved, words)} of another user`
        : `${units(moved, words)} of ${words.user} were transferred to another user`,
    'transfer.returned': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `${words.user} got ${units(moved, words)} back from a transfer`
        : `${words.user} gave ${units(moved, words)} of a transfer back`,
    'request.made': ({ request }, words) => `${words.user} asks for ${units(request.units, words)} more`,
    'request.decided': ({ request }, words) => decidedText(`The request of ${words.user}`, request, words),
    'pause.made': ({ pause }, { user, country }) => `Messages to ${country(pause.country)} are paused for ${user}`,
    'pause.lifted': ({ pause }, { user, country }) =>
      `Messages to ${country(pause.country)} are no longer paused for ${user}`,
    'breaker.tripped': ({ pause }, { user, country }) =>
      pause.observed
        ? `Pumped traffic: messages to ${country(pause.country)} would be paused for ${user}`
        : `Pumped traffic: messages to ${country(pause.country)} are paused for ${user}`,
    'webhook.disabled': ({ webhook }) => `Webhook ${webhook.description ?? webhook.id} was disabled`,
    'user.erased': ({ erasure }) => `The data of user ${erasure.user_id} was erased`,
    'webhook.test': ({ webhook }) => `Test of webhook ${webhook.description ?? webhook.id}`,
  },
  advice: {
    'quota.threshold_reached': ({ quota }) =>
      quota.remaining === 0
        ? quota.kind === 'cap'
          ? 'Such messages are denied until the cap counts anew. Raise the cap if they should go.'
          : 'Messages that no other quota pays are denied. Raise the limit, or give units.'
        : quota.kind === 'cap'
          ? 'Raise the cap before it is used up if more should go.'
          : 'Raise the limit, or give units, before it is used up.',
    'quota.expired': () => 'Messages that no other quota pays are denied.',
    'reservation.expired': () => 'The sender reserved units and did not say what became of them.',
    'request.made': ({ request }) =>
      request.status === 'open' ? 'Approve or decline it: the user waits for the answer.' : null,
    'pause.made': () => 'Such messages are denied until the pause ends or is lifted.',
    'breaker.tripped': ({ pause }) =>
      pause.observed
        ? 'The breaker only observes: messages still leave. Check the traffic, and pause the destination if it is pumped.'
        : 'Check the traffic, and lift the pause if people do enter these codes.',
    'webhook.disabled': ({ webhook }) =>
      webhook.disabled_reason === 'gone'
        ? 'Its receiver answered that it is gone. Delete it, or change its address and enable it again: what it missed is sent then.'
        : 'No delivery succeeded for three days. Repair its receiver and enable it again: what it missed is sent then.',
    'user.erased': () => 'Erase copies of the data that you keep elsewhere.',
    'webhook.test': () => 'Messages about events will look like this.',
  },
  types: {
    'quota.created': 'Quota created',
    'quota.updated': 'Quota changed',
    'quota.deleted': 'Quota deleted',
    'quota.threshold_reached': 'Threshold reached',
    'quota.expired': 'Quota expired',
    'reservation.expired': 'Reservation expired',
    'transfer.made': 'Units transferred',
    'transfer.returned': 'Units given back',
    'request.made': 'Units asked for',
    'request.decided': 'Request decided',
    'pause.made': 'Destination paused',
    'pause.lifted': 'Pause lifted',
    'breaker.tripped': 'Pumped traffic',
    'webhook.disabled': 'Webhook disabled',
    'user.erased': 'User erased',
    'webhook.test': 'Test',
  },
  labels: {
    user: 'User',
    limit: 'Limit',
    used: 'Used',
    reserved: 'Reserved',
    left: 'Left',
    windowEnd: 'Window ends',
    released: 'Units given back',
    committed: 'Units counted as sent',
    reason: 'Reason',
    note: 'Note',
    until: 'Until',
    messageTypes: 'Message types',
    young: 'Not entered, younger than 5 minutes',
    unverifiedHour: 'Not entered in the last hour',
    unverifiedDay: 'Not entered in 24 hours',
    verifiedDay: 'Entered in 24 hours',
    failingSince: 'Failing since',
  },
  unknown: (type, { user }) => `Event ${type} of ${user}`,
  many: {
    title: count => `${count} events`,
    digest: count => `Daily summary: ${count} events`,
    more: count => `and ${count} more`,
    advice: 'There were too many for a message each.',
  },
  open: 'Open in the console',
  footer: (id, at) => `${at} · sms-quota, webhook ${id}`,
  own,
}
