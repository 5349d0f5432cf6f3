/** The outcomes of changes that the rules forbid, and the problems that answer them. */
import {
  MAX_CAPS_PER_VALUE,
  MAX_OPEN_REQUESTS,
  MAX_PAUSES,
  MAX_PLANS,
  MAX_QUOTAS_PER_USER,
  MAX_RATE_CARDS,
  MAX_RATE_LISTS_AHEAD,
  MAX_REQUESTS_PER_DAY,
} from '../../domain/basics/bounds.ts'
import type { UnknownValue } from '../../domain/basics/unknown-value.ts'
import type { IncreaseRequest } from '../../domain/quotas/increase-request.ts'
import { HOUR_MS } from '../../domain/time/time.ts'
import { MAX_LINKS_PER_HOUR } from '../../domain/users/user-address.ts'
import { MAX_WEBHOOKS } from '../../domain/webhooks/webhook.ts'
import { type ErrorCode, invalidRequest, Problem, type ValidationIssue } from '../../errors.ts'
import { keyMismatch, unknownValue } from '../platform/problems.ts'
import { rateLimited } from '../platform/rate-limiter.ts'
import { etagOf } from './requests.ts'

/** The thing that a call names, for the words of its problems. */
export interface Thing {
  what: string
  id?: number | undefined
  /** That there is none; left out: that it does not exist. */
  missing?: string
}

type Issues = { issues: readonly ValidationIssue[] }

/** What each refusal says beside the name of its outcome. */
interface Refusals {
  below_usage: { detail: string }
  being_erased: object
  closed: { request: IncreaseRequest }
  conflict: { existingId: number }
  immutable_field: Issues
  immutable_ref: object
  invalid: Issues
  mismatch: { fields: readonly string[] }
  no_grant: { quotaId: number | null }
  not_enough_units: { available: number }
  not_found: object
  not_transferable: { detail: string }
  open_reservations: object
  outdated: object
  plan_archived: object
  rate_card_archived: object
  rate_card_in_use: { plans: number; users: number; isDefault: boolean }
  taken_ref: object
  too_many_caps_per_value: object
  too_many_links: object
  too_many_pauses: object
  too_many_plans: object
  too_many_rate_cards: object
  too_many_rate_lists: object
  too_many_quotas: object
  too_many_requests: { open: number }
  too_many_webhooks: object
  unknown_value: { cause: UnknownValue }
  version_mismatch: { version: number }
}
type Refused<Name extends keyof Refusals = keyof Refusals> = { [N in Name]: { outcome: N } & Refusals[N] }[Name]

/** The outcomes that are none, so that a new one is a type error until it is here or there. */
type Success =
  | ('archived' | 'changed' | 'created' | 'decided' | 'deleted' | 'finished' | 'given' | 'left_out' | 'lifted' | 'made')
  | ('redelivered' | 'replayed' | 'returned' | 'running' | 'set' | 'transferred' | 'unchanged')

const because = (code: ErrorCode, detail: string, members = {}) => new Problem(code, detail, { members })

const PROBLEMS: { readonly [Name in keyof Refusals]: (refused: Refused<Name>, of: Thing) => Problem } = {
  below_usage: ({ detail }) => because('below_usage', detail),
  being_erased: () => because('being_erased', 'The data of this user is being erased.'),
  closed: ({ request: { id, status, granted_units: given } }) =>
    because('request_closed', `Request ${id} is ${status} already${given === null ? '' : `, with ${given} units`}.`),
  conflict: ({ existingId }) =>
    because('conflict', `Quota ${existingId} of this user already has this external_ref.`, { existing_id: existingId }),
  immutable_field: ({ issues }) => immutable(issues),
  immutable_ref: () =>
    immutable([
      { path: '/ref', message: 'is immutable once set: leave it out, or repeat the value that the user has' },
    ]),
  invalid: ({ issues }) => invalidRequest(issues),
  mismatch: ({ fields }) => keyMismatch(fields),
  no_grant: ({ quotaId: id }) =>
    because(
      'no_grant',
      id === null
        ? 'The user has no live grant with a limit.'
        : `Quota ${id} is no live grant of the user with a limit.`,
    ),
  not_enough_units: ({ available }) =>
    because('not_enough_units', `${available} units are neither used nor reserved.`, { available }),
  not_found: (_, { what, id, missing }) => because('not_found', missing ?? `${capital(what)} ${id} does not exist.`),
  not_transferable: ({ detail }) => because('not_transferable', detail),
  open_reservations: (_, { id }) =>
    because(
      'open_reservations',
      `User ${id} has open reservations. Wait until they are settled or expired, or send force=true to release them.`,
    ),
  outdated: () =>
    because('link_outdated', 'The link is too old, or the address was taken back, or another one has replaced it.'),
  plan_archived: (_, { id }) => because('plan_archived', `Plan ${id} is archived.`),
  rate_card_archived: (_, { id }) => because('rate_card_archived', `Rate card ${id} is archived.`),
  rate_card_in_use: ({ plans, users, isDefault }, { id }) =>
    because(
      'rate_card_in_use',
      isDefault
        ? `Rate card ${id} is the default: make another one the default first.`
        : `Rate card ${id} is that of ${plans} plans and ${users} users: give them another one first.`,
    ),
  taken_ref: () => because('conflict', 'The ref is that of another user, or was until a few minutes ago.'),
  too_many_caps_per_value: () =>
    because(
      'too_many_quotas',
      `The user already has ${MAX_CAPS_PER_VALUE} caps that count each recipient, country or tag by itself, the maximum of those that are neither deleted nor expired.`,
    ),
  too_many_links: () =>
    rateLimited(
      `${MAX_LINKS_PER_HOUR} links were sent in this hour, to this address or for this user: no more are.`,
      HOUR_MS,
    ),
  too_many_pauses: () => because('too_many_pauses', `${MAX_PAUSES} pauses are active already, the maximum.`),
  too_many_plans: () => because('too_many_plans', `There are already ${MAX_PLANS} plans, the maximum.`),
  too_many_rate_cards: () =>
    because('too_many_rate_cards', `There are already ${MAX_RATE_CARDS} rate cards, the maximum.`),
  too_many_rate_lists: () =>
    because(
      'too_many_rate_cards',
      `The card already has ${MAX_RATE_LISTS_AHEAD} lists that are to come, the maximum: replace one by a list of the same valid_from.`,
    ),
  too_many_quotas: () =>
    because('too_many_quotas', `The user already has ${MAX_QUOTAS_PER_USER} undeleted, unexpired quotas, the maximum.`),
  too_many_requests: ({ open }) =>
    because(
      'too_many_requests',
      open >= MAX_OPEN_REQUESTS
        ? `${open} requests are open already, the maximum.`
        : `${MAX_REQUESTS_PER_DAY} requests were made in the last 24 hours, the maximum.`,
    ),
  too_many_webhooks: () => because('too_many_webhooks', `There are already ${MAX_WEBHOOKS} webhooks, the maximum.`),
  unknown_value: ({ cause }) => unknownValue(cause),
  version_mismatch: ({ version }, { what }) =>
    new Problem('version_mismatch', `The ${what} now has version ${version}.`, { headers: { etag: etagOf(version) } }),
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function immutable(errors: readonly ValidationIssue[]): Problem {
  return because('immutable_field', errors.map(({ path, message }) => `${path} ${message}`).join('; '), { errors })
}

export function refusal<Name extends keyof Refusals>(refused: Refused<Name>, of: Thing = { what: 'quota' }): Problem {
  const name: Name = refused.outcome
  return PROBLEMS[name](refused, of)
}

/** Returns what a call has done. @throws Problem if the rules forbid it */
export function accepted<Done extends { outcome: keyof Refusals | Success }>(
  done: Done,
  of: Thing,
): Exclude<Done, { outcome: keyof Refusals }> {
  assertAccepted(done, of)
  return done
}

function assertAccepted<Done extends { outcome: keyof Refusals | Success }>(
  done: Done,
  of: Thing,
): asserts done is Exclude<Done, { outcome: keyof Refusals }> {
  if (isRefused(done)) throw refusal(done, of)
}

const isRefused = (done: { outcome: string }): done is Refused => Object.hasOwn(PROBLEMS, done.outcome)

/** Returns what was found. @throws Problem `not_found` if nothing was */
export function found<T>(record: T | undefined, of: Thing): T {
  if (record === undefined) throw refusal({ outcome: 'not_found' }, of)
  return record
}
