/** How users ask for more units, and how administrators decide. A change of a user's requests holds the lock of the user's account. */
import { insertChanges } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { withNumbers } from '../../db/connection/sequences.ts'
import { appendEvents } from '../../db/outbox/writes.ts'
import {
  countRequests,
  findIncreaseRequest,
  hasAutomatic,
  insertIncreaseRequest,
  setDecided,
} from '../../db/quotas/increase-requests.ts'
import { lockKnownAccounts, lockQuotasOfUser, nextQuotaId } from '../../db/quotas/quotas.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import { MAX_OPEN_REQUESTS, MAX_REQUESTS_PER_DAY } from '../../domain/basics/bounds.ts'
import type { UnknownValue } from '../../domain/basics/unknown-value.ts'
import type { OutboxEvent } from '../../domain/events/outbox-event.ts'
import { EXTRA_NAME } from '../../domain/quotas/extra-grant.ts'
import {
  grantToIncrease,
  type IncreaseRequest,
  type IncreaseTerms,
  isSameApproval,
  isSmall,
  requestViewOf,
} from '../../domain/quotas/increase-request.ts'
import { type Quota, roll, shownWindowEnd, unknownIn } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { SERVICE_ACTOR } from '../../domain/webhooks/webhook.ts'
import type { ValidationIssue } from '../../errors.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import { aboveAdjustLimit } from '../kit/moved-units.ts'
import { type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { createUserChanges } from '../kit/user-changes.ts'
import { addExtra, type NotGiven, raise } from './give-units.ts'

/** Why a request is not made, or not approved. */
type NotIncreased =
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  /** The user has no live grant with a limit; or this quota is none, or of another user. */
  | { outcome: 'no_grant'; quotaId: number | null }
  | { outcome: 'being_erased' }
  | { outcome: 'unknown_value'; cause: UnknownValue }
  | NotGiven

export type RequestMade =
  | { outcome: 'made'; request: IncreaseRequest }
  | { outcome: 'too_many_requests'; open: number }
  | NotIncreased

export type RequestDecided =
  /** `unchanged`: it was decided in the same way before. */
  | { outcome: 'decided' | 'unchanged'; request: IncreaseRequest }
  | { outcome: 'not_found' }
  /** It was decided in another way before. */
  | { outcome: 'closed'; request: IncreaseRequest }
  | NotIncreased

/** A request to make. Without a quota, the grant that pays first gets the units. */
export interface RequestDraft extends IncreaseTerms {
  quota_id: number | null
}

/* ── Users ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * Makes a request; with an idempotency key, makes it only once.
 *
 * @param percent of a grant's limit up to which a request is approved at once, once in each window; 0: none is
 */
export function makeRequestOnce(
  db: Database,
  userId: number,
  draft: RequestDraft,
  author: Author,
  key: string | undefined,
  percent: number,
): Promise<RequestMade | Repeated<IncreaseRequest>> {
  const request = { operation: 'makeIncreaseRequest', userId, ...draft }
  const call = { key, request, answerOf: (done: RequestMade) => ('request' in done ? done.request : undefined) }
  return once(db, call, author, tx => makeRequest(tx, userId, draft, author, percent))
}

async function makeRequest(
  tx: Transaction,
  userId: number,
  { quota_id, ...terms }: RequestDraft,
  author: Author,
  percent: number,
): Promise<RequestMade> {
  const { now } = author
  if (isOver(terms, now)) return inThePast()
  const accounts = await lockKnownAccounts(tx, [userId])
  if (accounts.size === 0) return { outcome: 'no_grant', quotaId: quota_id }
  if (await isBeingErased(tx, userId)) return { outcome: 'being_erased' }
  const stored = await lockQuotasOfUser(tx, userId, now)
  const found = findGrant(stored, quota_id, now)
  if ('outcome' in found) return found
  const { open, made } = await countRequests(tx, userId, now)
  if (open >= MAX_OPEN_REQUESTS || made >= MAX_REQUESTS_PER_DAY) return { outcome: 'too_many_requests', open }
  const { quota } = found
  const request: IncreaseRequest = {
    id: await nextQuotaId(tx, userId),
    user_id: userId,
    quota_id: quota.id,
    ...terms,
    status: 'open',
    created_at: now,
    decided_at: null,
    decided_by: null,
    note: null,
    granted_units: null,
    granted_until: null,
    granted_quota_id: null,
  }
  if (isSmall(terms, quota, percent) && !(await hasAutomatic(tx, quota.id, quota.window_no))) {
    const service = { ...author, actor: SERVICE_ACTOR }
    const given = decideUnits(stored, quota, terms, { ...service, id: await nextQuotaId(tx, userId) })
    // What the service cannot give, a person decides.
    if (!('outcome' in given)) {
      const approved = approvedOf(request, terms, given.quotaId, null, service)
      await insertIncreaseRequest(tx, approved, { window_no: quota.window_no, end: shownWindowEnd(quota) })
      const events = [await record(tx, null, request, author), await record(tx, request, approved, service)]
      await recordChanges(tx, withEvents(given.users, events), service)
      return { outcome: 'made', request: approved }
    }
  }
  await insertIncreaseRequest(tx, request, null)
  await appendEvents(tx, [await record(tx, null, request, author)], now)
  return { outcome: 'made', request }
}

/** Takes a request of the user back. */
export function withdrawRequest(db: Database, userId: number, id: number, author: Author): Promise<RequestDecided> {
  return close(db, id, { status: 'withdrawn', note: null }, author, ({ user_id }) =>
    user_id === userId ? undefined : { outcome: 'not_found' },
  )
}

/* ── Administrators ─────────────────────────────────────────────────────────────────────────────────────────────── */

/** The terms of an approval; what is left out is given as it was asked for. */
export interface Approval {
  units?: number
  until?: EpochMs | null
  note: string | null
}

/**
 * Approves a request and gives the units, in one transaction. A repetition changes nothing.
 *
 * @throws Problem `forbidden` if it gives more units than the author may
 */
export function approveRequest(db: Database, id: number, approval: Approval, author: Author): Promise<RequestDecided> {
  return withNumbers(db, () => db.transaction(tx => approve(tx, id, approval, author)))
}

async function approve(
  tx: Transaction,
  id: number,
  { note, ...approval }: Approval,
  author: Author,
): Promise<RequestDecided> {
  const { now } = author
  const request = await lockRequest(tx, id)
  if ('outcome' in request) return request
  if (request.status !== 'open') return { outcome: isSameApproval(request, approval) ? 'unchanged' : 'closed', request }
  const terms = { units: request.units, until: request.until, reason: request.reason, ...approval }
  if (isOver(terms, now)) return inThePast()
  const stored = await lockQuotasOfUser(tx, request.user_id, now)
  const found = findGrant(stored, request.quota_id, now)
  if ('outcome' in found) return found
  const given = decideUnits(stored, found.quota, terms, { ...author, id: await nextQuotaId(tx, request.user_id) })
  if ('outcome' in given) return given
  const approved = approvedOf(request, terms, given.quotaId, note, author)
  await setDecided(tx, approved)
  await recordChanges(tx, withEvents(given.users, [await record(tx, request, approved, author)]), author)
  return { outcome: 'decided', request: approved }
}

/** Declines a request. A repetition changes nothing. @throws Problem `forbidden` for more units than the author may give in a day */
export function declineRequest(db: Database, id: number, note: string | null, author: Author): Promise<RequestDecided> {
  return close(db, id, { status: 'declined', note }, author, ({ units }) => {
    if (author.allowance !== undefined && units > author.allowance) throw aboveAdjustLimit(units, author.allowance, 0)
    return undefined
  })
}

/* ── Both ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Closes an open request without units, unless `refuse` says why not. */
function close(
  db: Database,
  id: number,
  end: Pick<IncreaseRequest, 'note'> & { status: 'declined' | 'withdrawn' },
  author: Author,
  refuse: (request: IncreaseRequest) => RequestDecided | undefined,
): Promise<RequestDecided> {
  return db.transaction(async tx => {
    const request = await lockRequest(tx, id)
    if ('outcome' in request) return request
    const refused = refuse(request)
    if (refused !== undefined) return refused
    if (request.status !== 'open') return { outcome: request.status === end.status ? 'unchanged' : 'closed', request }
    const closed = { ...request, ...end, decided_at: author.now, decided_by: author.actor }
    await setDecided(tx, closed)
    await appendEvents(tx, [await record(tx, request, closed, author)], author.now)
    return { outcome: 'decided', request: closed }
  })
}

/** Locks the account of a request's user, and reads the request in a later statement: another call may have decided it meanwhile. */
async function lockRequest(
  tx: Transaction,
  id: number,
): Promise<IncreaseRequest | { outcome: 'not_found' | 'being_erased' }> {
  const found = await findIncreaseRequest(tx, id)
  if (found === undefined) return { outcome: 'not_found' }
  await lockKnownAccounts(tx, [found.user_id])
  if (await isBeingErased(tx, found.user_id)) return { outcome: 'being_erased' }
  return (await findIncreaseRequest(tx, id)) ?? { outcome: 'not_found' }
}

const isOver = ({ until }: Pick<IncreaseTerms, 'until'>, now: EpochMs) => until !== null && until <= now

function inThePast(): NotIncreased {
  return { outcome: 'invalid', issues: [{ path: '/until', message: 'must be in the future' }] }
}

/** The grant that is to get units, in its window of `now`. */
export function findGrant(
  stored: readonly Quota[],
  quotaId: number | null,
  now: EpochMs,
): { quota: Quota } | Extract<NotIncreased, { outcome: 'no_grant' | 'unknown_value' }> {
  const [cause] = stored.map(unknownIn).filter(unknown => unknown !== null)
  if (cause !== undefined) return { outcome: 'unknown_value', cause }
  const rolled = stored.map(quota => roll(quota, now).quota)
  const quota = grantToIncrease(rolled, quotaId, now)
  return quota === undefined ? { outcome: 'no_grant', quotaId } : { quota }
}

/** What gives the units, and the grant that has them: one of its own if they end, else the one whose limit is raised. */
function decideUnits(
  stored: readonly Quota[],
  quota: Quota,
  { units, until, reason }: IncreaseTerms,
  context: Author & { id: number },
): { users: DecisionsOfUser[]; quotaId: number } | NotGiven {
  const changes = createUserChanges(stored, context.now)
  const refused =
    until === null
      ? raise(changes, { quota, units }, { reason }, context)
      : addExtra(changes, { quota, units, end: until, reference: null }, { name: EXTRA_NAME, reason }, context)
  if (refused === undefined) return { users: changes.changes, quotaId: until === null ? quota.id : context.id }
  if (refused.outcome !== 'invalid') return refused
  return { outcome: 'invalid', issues: refused.issues.map(issue => ({ ...issue, path: '/units' })) }
}

function approvedOf(
  request: IncreaseRequest,
  { units, until }: IncreaseTerms,
  quotaId: number,
  note: string | null,
  { now, actor }: Author,
): IncreaseRequest {
  const decided = { status: 'approved', decided_at: now, decided_by: actor, note } as const
  return { ...request, ...decided, granted_units: units, granted_until: until, granted_quota_id: quotaId }
}

/** The changes of the user's quotas, with further events. Users who get units have a change. */
function withEvents(users: readonly DecisionsOfUser[], events: readonly OutboxEvent[]): DecisionsOfUser[] {
  return users.map(user => ({ ...user, decisions: user.decisions.map(decision => ({ ...decision, events })) }))
}

/** Writes the audit entry of a change, and returns its event. */
async function record(
  tx: Transaction,
  before: IncreaseRequest | null,
  after: IncreaseRequest,
  author: Author,
): Promise<OutboxEvent> {
  const { id, user_id, status } = after
  const request = requestViewOf(after)
  const shown = { before: before && requestViewOf(before), after: request }
  const made = { version: before === null ? 1 : 2, action: status === 'open' ? 'created' : status } as const
  await insertChanges(tx, 'increase_request', [{ id, user_id, ...made, ...shown }], author)
  return { user_id, type: before === null ? 'request.made' : 'request.decided', data: { request } }
}
