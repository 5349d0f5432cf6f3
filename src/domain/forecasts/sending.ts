import { MAX_SENDING_SCOPES } from '../basics/bounds.ts'
import { type Quota, statusOf } from '../quotas/quota.ts'
import type { EpochMs } from '../time/time.ts'
import type { Denied, DrawCommand } from '../units/command.ts'
import { denialReasonOf, deny } from '../units/denial.ts'
import { createDraft, type Draft } from '../units/draft.ts'
import { capacityOf, drawableOf, type Matches, matchQuotas } from '../units/matching.ts'
import { type AvailableUntil, availableUntil } from './available-until.ts'

/** What a user can send now, decided as for a check: for messages in general, and for those that scopes treat differently. */

/** The answer to messages of one country and type. */
export interface Sending {
  /** The largest reservation that would be granted now; null if unlimited. */
  available: number | null
  /** Why a message of one unit would be denied; null if it would be granted. */
  denial: Pick<Denied, 'reason' | 'limiting_quota_id' | 'retry_at'> | null
}

/** Messages that other quotas apply to than to all others. */
export interface ScopeSending extends Sending {
  /** Null: to any country, or to none. */
  countries: readonly string[] | null
  /** Null: of any type, or of none. */
  message_types: readonly string[] | null
}

export interface AllSending extends Sending {
  available_until: AvailableUntil | null
  scopes: ScopeSending[]
}

/** @param all the user's undeleted, unexpired quotas, rolled to `now` */
export function sendingOf(userId: number, all: readonly Quota[], now: EpochMs): AllSending {
  const { general, matches, scopes } = answer(userId, all, now)
  return { ...general, available_until: availableUntil(matches, now), scopes }
}

/** The answers without a look ahead, to messages in general first: for many users at once. Takes the quotas of `sendingOf`. */
export function answersOf(userId: number, all: readonly Quota[], now: EpochMs): [ScopeSending, ...ScopeSending[]] {
  const { general, scopes } = answer(userId, all, now)
  return [{ countries: null, message_types: null, ...general }, ...scopes]
}

function answer(userId: number, all: readonly Quota[], now: EpochMs) {
  // Caps that count each value by itself depend on the recipient, the country or the tag of a message.
  const quotas = all.filter(({ per }) => per === null)
  const draft = createDraft(userId, quotas, [])
  const matches = matchQuotas(draft, ONE_UNIT, now)
  const scopes = scopesOf(quotas.filter(quota => ['active', 'exhausted', 'scheduled'].includes(statusOf(quota, now))))
  return {
    matches,
    general: answerOf(matches, ONE_UNIT, now),
    scopes: scopes.map(scope => ({ ...scope, ...answerIn(scope, draft, now) })),
  }
}

const ONE_UNIT: DrawCommand = {
  op: 'check',
  user_id: 0,
  id: '',
  units: 1,
  country: null,
  message_type: null,
  ttl_ms: 0,
  on_expiry: 'release',
  allow_partial: false,
  force: false,
  explain: false,
}

type Scope = Pick<ScopeSending, 'countries' | 'message_types'>

/** All messages of a scope are answered alike: one stands for them. */
function answerIn({ countries, message_types }: Scope, draft: Draft, now: EpochMs): Sending {
  const command = { ...ONE_UNIT, country: countries?.[0] ?? null, message_type: message_types?.[0] ?? null }
  return answerOf(matchQuotas(draft, command, now), command, now)
}

function answerOf(matches: Matches, command: DrawCommand, now: EpochMs): Sending {
  const capacity = capacityOf(matches)
  const available = drawableOf(matches)
  if (available !== 0) return { available, denial: null }
  const reason = denialReasonOf(matches, command, capacity)
  const { limiting_quota_id, retry_at } = deny(reason, matches, command, capacity, now, false)
  return { available, denial: { reason, limiting_quota_id, retry_at } }
}

/** Values of a scope that the same quotas list. */
interface Group {
  /** Null: those that no quota lists, or none. */
  values: readonly string[] | null
  /** The quotas that cover these values. */
  covered: ReadonlySet<Quota>
}

/**
 * The scopes that other quotas apply to than to a message without country and type, or with one of them only. A message
 * belongs to the scope that names most of its country and type.
 */
function scopesOf(quotas: readonly Quota[]): Scope[] {
  const countries = groupsOf(quotas, quota => quota.countries)
  const scopes: Scope[] = []
  for (const types of groupsOf(quotas, quota => quota.message_types)) {
    if (scopes.length >= MAX_SENDING_SCOPES) break
    const applied = countries.map(({ values, covered }) => ({
      values,
      quotas: quotas.filter(quota => covered.has(quota) && types.covered.has(quota)),
    }))
    // Countries that only quotas of other types tell apart are one scope.
    for (const [first, ...others] of Map.groupBy(applied, one => one.quotas.map(({ id }) => id).join()).values()) {
      if (first === undefined || !isDistinct(first.quotas, first.values, types.values)) continue
      const more = others.flatMap(({ values }) => values ?? [])
      scopes.push({ countries: first.values && [...first.values, ...more].sort(), message_types: types.values })
    }
  }
  return scopes.slice(0, MAX_SENDING_SCOPES)
}

/** The group of other values and at most `MAX_SENDING_SCOPES` more. */
function groupsOf(quotas: readonly Quota[], listOf: (quota: Quota) => readonly string[] | null): Group[] {
  const listing = new Map<string, Quota[]>()
  for (const quota of quotas) {
    for (const value of listOf(quota) ?? []) {
      const others = listing.get(value)
      if (others === undefined) listing.set(value, [quota])
      else others.push(quota)
    }
  }
  const unlisted = quotas.filter(quota => listOf(quota) === null)
  const groups = Map.groupBy([...listing.keys()].sort(), value =>
    listing
      .get(value)
      ?.map(({ id }) => id)
      .join(),
  )
  const listed = [...groups.values()].slice(0, MAX_SENDING_SCOPES).map(values => ({
    values,
    covered: new Set([...unlisted, ...(listing.get(values[0] ?? '') ?? [])]),
  }))
  return [{ values: null, covered: new Set(unlisted) }, ...listed]
}

/** Whether the named values matter: without a quota that lists them, the scope is no other than one that names less. */
function isDistinct(applied: readonly Quota[], countries: Group['values'], types: Group['values']): boolean {
  if (countries === null && types === null) return false
  const namesCountry = countries === null || applied.some(quota => quota.countries !== null)
  return namesCountry && (types === null || applied.some(quota => quota.message_types !== null))
}
