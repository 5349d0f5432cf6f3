import type { Database, Transaction } from '../../db/connection/database.ts'
import { withNumbers } from '../../db/connection/sequences.ts'
import { BY_KEYS_IN_ORDER } from '../../db/connection/transaction-settings.ts'
import { type ChangeOfRequest, changesOfRequest, lastExpiredGrants } from '../../db/quotas/gifts.ts'
import { lockKnownAccounts, nextQuotaNumbers, quotasOfUsers } from '../../db/quotas/quotas.ts'
import { usersBeingErased } from '../../db/users/erasure.ts'
import { quotaIdOf, shardOf } from '../../domain/basics/shard.ts'
import type { UnknownValue } from '../../domain/basics/unknown-value.ts'
import {
  commonMonthZone,
  countMonthZones,
  decideGift,
  type Gift,
  type GiftDecision,
  type GiftTerms,
} from '../../domain/forecasts/gift.ts'
import { adjustQuota } from '../../domain/quotas/adjust.ts'
import { extraGrant } from '../../domain/quotas/extra-grant.ts'
import { createQuota, type Quota, type QuotaChange, roll, unknownIn } from '../../domain/quotas/quota.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import type { Author } from '../kit/author.ts'
import { type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { createUserChanges, type UserChanges } from '../kit/user-changes.ts'
import type { ForbiddenByOthers } from '../kit/user-limits.ts'

/** A user who is to get units. */
export interface Receiver {
  user_id: number
  units: number
}

export interface GiveTerms extends GiftTerms {
  /** How the names of extra grants begin; the name of the grant that gets the units follows. */
  name: string
}

/** What an earlier call of the same request has given. */
interface GivenBefore {
  /** The grant that has got the units. */
  quotaId: number
  units: number
  until: string | null
  reference: string | null
}

/** Why a grant gets no units, or an extra grant of them is not added. */
export type NotGiven = Exclude<QuotaChange, { outcome: 'changed' | 'unchanged' }> | ForbiddenByOthers

/** The result for a user. One who is refused does not affect the others. */
export type GiveOutcome =
  | GiftDecision
  | ({ outcome: 'given_before' } & GivenBefore)
  | { outcome: 'being_erased' }
  | { outcome: 'unknown_value'; cause: UnknownValue }
  | NotGiven

/** Users whose quotas are read at a time: each has at most 200 unexpired ones. */
const USERS_AT_A_TIME = 100

/** The zone in which most monthly grants of the users start anew; UTC if they have none. */
export async function monthZoneOf(db: Database, userIds: readonly number[], now: EpochMs): Promise<string> {
  const counts = new Map<string, number>()
  for (let from = 0; from < userIds.length; from += USERS_AT_A_TIME) {
    const users = userIds.slice(from, from + USERS_AT_A_TIME).map(user_id => ({ user_id }))
    countMonthZones(counts, await db.transaction(tx => quotasOfUsers(tx, users, now, 'read'), 'keyed snapshot'), now)
  }
  return commonMonthZone(counts)
}

/**
 * One step: gives units to users in one transaction, with a statement per table. The history tells what an earlier call of the
 * request has given, also if that has ended or was deleted since, so a step can be repeated. Users who get nothing take no locks.
 *
 * @param receivers without duplicates
 * @param author whose `requestId` is that of the request
 * @param begunAt when the request began, by any clock of the service
 * @returns what became of each user, in the order of the receivers
 */
export function giveStep(
  db: Database,
  receivers: readonly Receiver[],
  terms: GiveTerms,
  author: Author,
  begunAt: EpochMs,
): Promise<GiveOutcome[]> {
  const since = firstTimeOf(begunAt, author.now)
  return withNumbers(db, () => db.transaction(tx => give(tx, receivers, terms, author, since)))
}

/**
 * Before each change of a request, also if the clock that it began by was ahead, and those of its changes were not. A request goes on for a
 * day at most: by then a clock that was further ahead is not yet reached, which shows that it was.
 */
function firstTimeOf(begunAt: EpochMs, now: EpochMs): EpochMs {
  return begunAt > now ? 0 : begunAt - DAY_MS
}

async function give(
  tx: Transaction,
  receivers: readonly Receiver[],
  terms: GiveTerms,
  author: Author,
  since: EpochMs,
): Promise<GiveOutcome[]> {
  await tx.query({ text: BY_KEYS_IN_ORDER })
  const outcomes = new Map<number, GiveOutcome>()
  const addGivenBefore = async (users: readonly Receiver[]) => {
    const changes = await changesOfRequest(tx, idsOf(users), { ...author, since })
    for (const change of changes) outcomes.set(change.user_id, givenBefore(change))
    return users.filter(({ user_id }) => !outcomes.has(user_id))
  }
  const rest = await addGivenBefore(byUser(receivers))
  const found = decide(rest, await readUsers(tx, rest, author), terms, author)
  for (const [userId, outcome] of found.outcomes) outcomes.set(userId, outcome)
  const chosen = rest.flatMap(receiver => {
    const outcome = outcomes.get(receiver.user_id)
    return outcome?.outcome === 'given' ? [{ ...receiver, external_ref: outcome.reference }] : []
  })
  if (chosen.length === 0) {
    // What an unconfirmed commit wrote may be read before a standby has it. The commit of a write waits for the standby.
    const isGiven = ({ user_id }: Receiver) => isSettled(outcomes.get(user_id))
    await lockKnownAccounts(tx, idsOf(receivers.filter(isGiven).slice(0, 1)))
    return inOrder(receivers, outcomes)
  }
  const known = await lockKnownAccounts(tx, idsOf(chosen))
  for (const { user_id } of chosen) outcomes.delete(user_id)
  const last = new Set(await addGivenBefore(chosen))
  const concerned = chosen.filter(receiver => last.has(receiver))
  const decided = decide(
    concerned,
    {
      // Of one who was erased meanwhile, none: the user has no quota.
      stored: await quotasOfUsers(
        tx,
        concerned.filter(({ user_id }) => known.has(user_id)),
        author.now,
        'lock',
      ),
      erased: await usersBeingErased(tx, idsOf(concerned)),
      numbers: await nextQuotaNumbers(tx, concerned.length),
    },
    terms,
    author,
  )
  if (decided.users.length > 0) await recordChanges(tx, decided.users, author)
  for (const [userId, outcome] of decided.outcomes) outcomes.set(userId, outcome)
  return inOrder(receivers, outcomes)
}

/** What a step would give, decided from what is stored. */
export function previewGiveStep(
  db: Database,
  receivers: readonly Receiver[],
  terms: GiveTerms,
  author: Author,
): Promise<GiveOutcome[]> {
  return db.transaction(async tx => {
    const { outcomes } = decide(receivers, await readUsers(tx, receivers, author), terms, author)
    return inOrder(receivers, outcomes)
  }, 'keyed snapshot')
}

/** Ascending: the order in which accounts are locked and rows are written. */
const byUser = (receivers: readonly Receiver[]) => [...receivers].sort((one, other) => one.user_id - other.user_id)

const idsOf = (receivers: readonly Receiver[]) => receivers.map(({ user_id }) => user_id)

/** Whether an earlier call has given the units, of the same request or another one. */
const isSettled = (outcome: GiveOutcome | undefined) =>
  outcome?.outcome === 'given_before' || (outcome?.outcome === 'left_out' && outcome.reason === 'had_before')

function inOrder(receivers: readonly Receiver[], outcomes: ReadonlyMap<number, GiveOutcome>): GiveOutcome[] {
  return receivers.map(({ user_id }) => {
    const outcome = outcomes.get(user_id)
    if (outcome === undefined) throw new Error(`user ${user_id} has no outcome`)
    return outcome
  })
}

function givenBefore({ before, after }: ChangeOfRequest): GiveOutcome {
  const { id, limit, expires_at, external_ref, metadata } = after
  if (before !== null)
    return {
      outcome: 'given_before',
      quotaId: id,
      units: (limit ?? 0) - (before.limit ?? 0),
      until: null,
      reference: null,
    }
  const quotaId = Number(metadata.extends_quota)
  return { outcome: 'given_before', quotaId, units: limit ?? 0, until: expires_at, reference: external_ref }
}

/** What gifts are decided from. */
interface Known {
  stored: readonly Quota[]
  /** The users whose data is being erased. */
  erased: ReadonlySet<number>
  /** A number for the id of each extra grant. */
  numbers: readonly number[]
}

async function readUsers(tx: Transaction, users: readonly Receiver[], { now }: Author): Promise<Known> {
  const unexpired = await quotasOfUsers(
    tx,
    users.map(({ user_id }) => ({ user_id })),
    now,
    'read',
  )
  return {
    stored: [...unexpired, ...(await lastExpiredGrants(tx, idsOf(users), now))],
    erased: await usersBeingErased(tx, idsOf(users)),
    numbers: [],
  }
}

function decide(
  receivers: readonly Receiver[],
  { stored, erased, numbers }: Known,
  terms: GiveTerms,
  author: Author,
): { outcomes: Map<number, GiveOutcome>; users: DecisionsOfUser[] } {
  const ofUser = Map.groupBy(stored, ({ user_id }) => user_id)
  const outcomes = new Map<number, GiveOutcome>()
  const users = receivers.flatMap(({ user_id, units }, index) => {
    const quotas = ofUser.get(user_id) ?? []
    const user = createUserChanges(quotas, author.now)
    const id = quotaIdOf(numbers[index] ?? 0, shardOf(user_id))
    outcomes.set(
      user_id,
      erased.has(user_id) ? { outcome: 'being_erased' } : giveOne(user, quotas, units, terms, { ...author, id }),
    )
    return user.changes
  })
  return { outcomes, users }
}

interface Context extends Author {
  /** Of the extra grant. */
  id: number
}

function giveOne(
  user: UserChanges,
  stored: readonly Quota[],
  units: number,
  terms: GiveTerms,
  context: Context,
): GiveOutcome {
  const [cause] = stored.map(unknownIn).filter(unknown => unknown !== null)
  if (cause !== undefined) return { outcome: 'unknown_value', cause }
  const rolled = stored.map(quota => roll(quota, context.now).quota)
  const decided = decideGift(units, rolled, terms, context.now)
  if (decided.outcome === 'left_out') return decided
  return (
    (decided.reference === null ? raise(user, decided, terms, context) : addExtra(user, decided, terms, context)) ??
    decided
  )
}

/** @returns why not; undefined if the limit is raised */
export function raise(
  user: UserChanges,
  { quota, units }: Pick<Gift, 'quota' | 'units'>,
  { reason }: Pick<GiveTerms, 'reason'>,
  context: Context,
): NotGiven | undefined {
  const before = user.byId(quota.id)
  if (before === undefined) throw new Error(`quota ${quota.id} is not stored`)
  const changed = adjustQuota(before, { delta: units }, context)
  if (changed.outcome === 'unchanged') return undefined
  if (changed.outcome !== 'changed') return changed
  const change = { action: 'updated', before, after: changed.quota, reason } as const
  return user.add({ change, closed: changed.closed })
}

/** @returns why not; undefined if the grant is added */
export function addExtra(
  user: UserChanges,
  gift: Pick<Gift, 'quota' | 'units' | 'end' | 'reference'>,
  { name, reason }: Pick<GiveTerms, 'name' | 'reason'>,
  context: Context,
): NotGiven | undefined {
  const of = gift.quota.name ?? `quota ${gift.quota.id}`
  const draft = { ...extraGrant(gift, { name: `${name} ${of}`, reason }), external_ref: gift.reference }
  const created = createQuota(draft, context)
  if ('issues' in created) return { outcome: 'invalid', issues: created.issues }
  return user.add({ change: { action: 'created', before: null, after: created.quota }, closed: [] })
}
