import { type EventType, isOwnEventType, USUAL_OWN_EVENT_TYPES } from '../../../src/domain/events/event.ts'
import { DESTINATIONS, type WebhookKind } from '../../../src/domain/webhooks/webhook.ts'
import type { Api } from '../api/types.ts'
import { percentOf, shareOf, wholeNumber } from './typed.ts'

/** What the forms of a webhook ask for, by its kind, and what they send. */

type Webhook = Api['Webhook']

/** The settings of a webhook as a form shows them. */
export interface WebhookInput
  extends Pick<Webhook, 'url' | 'addresses' | 'language' | 'user_ids' | 'types' | 'digest' | 'description'> {
  /** As it is typed, the share in percent. */
  only_when_low: { units: string; share: string } | null
}

export const hasAddresses = (kind: WebhookKind) => DESTINATIONS[kind] === 'addresses'

export const hasUrl = (kind: WebhookKind) => DESTINATIONS[kind] !== null && !hasAddresses(kind)

export const hasSecretUrl = (kind: WebhookKind) => DESTINATIONS[kind] === 'secret url'

export function inputOf({ only_when_low: low, ...webhook }: Pick<Webhook, keyof WebhookInput>): WebhookInput {
  const { url, addresses, language, user_ids, types, digest, description } = webhook
  const typed = low && { units: String(low.units ?? ''), share: low.share === undefined ? '' : percentOf(low.share) }
  return { url, addresses, language, user_ids, types, only_when_low: typed, digest, description }
}

/** What a save changes. A secret URL is not shown whole: an empty field leaves it as it is. */
export function changedSettings<Changes extends Partial<Pick<Webhook, 'url'>>>(
  kind: WebhookKind,
  { url, ...rest }: Changes,
) {
  return url === undefined || (url === '' && hasSecretUrl(kind)) ? rest : { ...rest, url }
}

/** The addresses of lines. */
const writtenIn = (lines: readonly string[]): string[] => lines.map(line => line.trim()).filter(line => line !== '')

/** The fields of a form as the service takes them; it refuses what is no number. */
export function settingsOf({ url, addresses, only_when_low: low, ...rest }: Partial<WebhookInput>) {
  return {
    ...rest,
    ...(typeof url === 'string' && { url }),
    ...(addresses ? { addresses: writtenIn(addresses) } : {}),
    ...(low === undefined ? {} : { only_when_low: low && lowOf(low) }),
  }
}

function lowOf({ units, share }: NonNullable<WebhookInput['only_when_low']>) {
  return {
    ...(units.trim() === '' ? {} : { units: wholeNumber(units) }),
    ...(share.trim() === '' ? {} : { share: shareOf(share) }),
  }
}

/** What creates a webhook: the service refuses a URL beside addresses, both where users have theirs, and a digest for a program. */
export function webhookRequest(input: Partial<WebhookInput> & Pick<Webhook, 'kind'>) {
  const { kind, url, addresses, digest, ...rest } = input
  return {
    kind,
    ...settingsOf(rest),
    ...(hasAddresses(kind) ? { addresses: writtenIn(addresses ?? []) } : {}),
    ...(hasUrl(kind) ? { url: url ?? '' } : {}),
    ...(kind === 'webhook' || digest === undefined ? {} : { digest }),
  }
}

/** What people need to hear of: messages are or will be denied, a user waits for an answer, traffic is pumped, a receiver fails. */
const FOR_PEOPLE: readonly EventType[] = [
  'quota.threshold_reached',
  'quota.expired',
  'request.made',
  'pause.made',
  'pause.lifted',
  'breaker.tripped',
  'webhook.disabled',
]

/** The event types that a new webhook of a kind begins with; null: all. */
export function presetOf(kind: WebhookKind): string[] | null {
  if (kind === 'webhook') return null
  return kind === 'users' ? [...USUAL_OWN_EVENT_TYPES] : [...FOR_PEOPLE]
}

export function isPreset(kind: WebhookKind, types: WebhookInput['types']): boolean {
  const preset = presetOf(kind)
  if (types === null || preset === null) return types === preset
  return types.length === preset.length && preset.every(type => types.includes(type))
}

/** The event types after the choice of another kind: its preset, unless others were chosen. Users have messages about some only. */
export function typesAfter(types: WebhookInput['types'], before: WebhookKind, after: WebhookKind) {
  const chosen = isPreset(before, types) ? presetOf(after) : types
  return after === 'users' ? (chosen?.filter(isOwnEventType) ?? presetOf(after)) : chosen
}

export const takesThresholds = (types: WebhookInput['types']): boolean =>
  types === null || types.includes('quota.threshold_reached')

/** What little is; null: it is not compared, or is no number. */
export interface Low {
  units: number | null
  share: number | null
}

/** What a form says that little is; null: it does not matter. */
export function lowIn({ types, only_when_low: low }: Pick<WebhookInput, 'types' | 'only_when_low'>): Low | null {
  if (low === null || !takesThresholds(types)) return null
  const numberOf = (value: number | string | undefined) => (typeof value === 'number' ? value : null)
  const { units, share } = lowOf(low)
  const read = { units: numberOf(units), share: numberOf(share) }
  return read.units === null && read.share === null ? null : read
}
