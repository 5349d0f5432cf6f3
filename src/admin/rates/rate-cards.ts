/** What administrators do with rate cards. What was charged before stays as it was: reservations keep their price. */
import { createHash } from 'node:crypto'
import { insertChanges, nextVersion } from '../../db/changes/insert.ts'
import type { Database, Queryable, Transaction } from '../../db/connection/database.ts'
import {
  countListsAhead,
  findDefaultCard,
  findLines,
  findRateCard,
  insertList,
  listsOfCard,
  lockRateCards,
  nextRateCardId,
  usersOfCard,
  writeRateCard,
} from '../../db/rates/rate-cards.ts'
import { linesIn, writeLines } from '../../db/rates/stored-lines.ts'
import { MAX_RATE_LISTS_AHEAD, MAX_VALID_FROM_AHEAD_MS } from '../../domain/basics/bounds.ts'
import type { ActionOn } from '../../domain/events/audit.ts'
import { listAt } from '../../domain/rates/rate-book.ts'
import {
  archiveRateCard,
  changeRateCard,
  type RateCard,
  type RateCardDraft,
  type RateCardPatch,
  rateCardViewOf,
  withNextList,
} from '../../domain/rates/rate-card.ts'
import {
  type ChangedLine,
  changedLines,
  lineIssues,
  ONE_A_SEGMENT,
  type RateLine,
} from '../../domain/rates/rate-line.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { ValidationIssue } from '../../errors.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import type { NotChangeable, VersionCheck } from '../kit/lock-quota.ts'

type Invalid = { outcome: 'invalid'; issues: ValidationIssue[] }
type Archived = { outcome: 'rate_card_archived' }

export type NoSuchCard = Invalid

/** A plan or a user shall have a card that there is not. */
export const noSuchCard = (id: number | null): NoSuchCard => ({
  outcome: 'invalid',
  issues: [{ path: '/rate_card_id', message: `must be the id of a rate card that is not archived; ${id} is not` }],
})

export type RateCardCreated = { outcome: 'created'; card: RateCard } | Invalid | { outcome: 'too_many_rate_cards' }

export type RateCardUpdated = { outcome: 'changed' | 'unchanged'; card: RateCard } | Invalid | NotChangeable | Archived

/** New prices of a card: from when they hold, and what is not as it is at that time. */
export interface NewList {
  outcome: 'set'
  card: RateCard
  valid_from: EpochMs
  changed: ChangedLine[]
}

export type ListSet = NewList | Invalid | NotChangeable | Archived | { outcome: 'too_many_rate_lists' }

const answerOf = (done: { outcome: string; card?: RateCard }) => done.card

/** Makes a card; with an idempotency key, makes it only once. Without lines it charges one unit a segment. */
export function createRateCardOnce(
  db: Database,
  draft: RateCardDraft,
  author: Author,
  key: string | undefined,
): Promise<RateCardCreated | Repeated<RateCard>> {
  const { lines = [ONE_A_SEGMENT], ...fields } = draft
  const call = { key, request: { operation: 'createRateCard', ...fields, lines: hashOf(lines) }, answerOf }
  return once(db, call, author, async (tx): Promise<RateCardCreated> => {
    const issues = lineIssues(lines)
    if (issues.length > 0) return { outcome: 'invalid', issues }
    await lockRateCards(tx)
    const id = await nextRateCardId(tx)
    if (id === undefined) return { outcome: 'too_many_rate_cards' }
    const { now, actor } = author
    const marks = { created_at: now, created_by: actor }
    const { name, is_default = false } = draft
    const card: RateCard = {
      ...{ id, version: 1, line_count: lines.length, name, is_default, archived_at: null, ...marks },
      ...{ updated_at: now, updated_by: actor },
    }
    await record(tx, 'created', null, card, author)
    await insertList(tx, id, { version: 1, valid_from: now, line_count: lines.length, ...marks }, writeLines(lines))
    return { outcome: 'created', card }
  })
}

/** Changes a card by merging, but for its prices. With an idempotency key, changes it only once. */
export function updateRateCardOnce(
  db: Database,
  id: number,
  patch: RateCardPatch,
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<RateCardUpdated | Repeated<RateCard>> {
  const call = { key, request: { operation: 'updateRateCard', id, ...patch }, answerOf }
  return once(db, call, author, async (tx): Promise<RateCardUpdated> => {
    const known = await lockCard(tx, id, mayChange)
    if (known.outcome !== 'known') return known
    const { card: before } = known
    const changed = changeRateCard(before, patch, author)
    if (changed.outcome === 'unchanged') return { outcome: 'unchanged', card: before }
    const { card } = changed
    await record(tx, 'updated', before, card, author)
    return { outcome: 'changed', card }
  })
}

/** Archives a card that no plan and no user has. */
export function archiveRateCardIf(
  db: Database,
  id: number,
  author: Author,
  mayChange: VersionCheck,
): Promise<
  | { outcome: 'archived' }
  | NotChangeable
  | { outcome: 'rate_card_in_use'; plans: number; users: number; isDefault: boolean }
> {
  return db.transaction(async tx => {
    const known = await lockCard(tx, id, mayChange)
    if (known.outcome === 'rate_card_archived') return { outcome: 'archived' }
    if (known.outcome !== 'known') return known
    const { card } = known
    const { plans, users } = await usersOfCard(tx, id)
    if (card.is_default || plans + users > 0)
      return { outcome: 'rate_card_in_use', plans, users, isDefault: card.is_default }
    const archived = archiveRateCard(card, author)
    if (archived.outcome === 'changed') await record(tx, 'archived', card, archived.card, author)
    return { outcome: 'archived' }
  })
}

/** The prices of a card that a call sets. */
export interface PriceTerms {
  lines: readonly RateLine[]
  /** From when on they hold; undefined: at once. */
  validFrom: EpochMs | undefined
}

/** Gives a card another list of prices. With an idempotency key, does it only once. */
export function setLinesOnce(
  db: Database,
  id: number,
  terms: PriceTerms,
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<ListSet | Repeated<NewList>> {
  const request = { operation: 'setRateLines', id, lines: hashOf(terms.lines), valid_from: terms.validFrom ?? null }
  const call = { key, request, answerOf: (done: ListSet) => (done.outcome === 'set' ? done : undefined) }
  return once<ListSet, NewList>(db, call, author, async tx => {
    const known = await lockCard(tx, id, mayChange)
    if (known.outcome !== 'known') return known
    const decided = await decideList(tx, known.card, terms, author.now)
    if (decided.outcome !== 'set') return decided
    if (decided.valid_from > author.now && (await countListsAhead(tx, id, author.now)) >= MAX_RATE_LISTS_AHEAD)
      return { outcome: 'too_many_rate_lists' }
    const { now, actor } = author
    const { valid_from } = decided
    const line_count = terms.lines.length
    const card = withNextList(known.card, line_count, author)
    await record(tx, 'updated', known.card, card, author)
    const list = { version: card.version, valid_from, line_count, created_at: now, created_by: actor }
    await insertList(tx, id, list, writeLines(terms.lines))
    return { ...decided, card }
  })
}

/** What `setLinesOnce` would do. */
export async function previewLines(
  db: Database,
  id: number,
  terms: PriceTerms,
  author: Author,
  mayChange: VersionCheck,
): Promise<ListSet> {
  return db.transaction(async tx => {
    const card = await findRateCard(tx, id)
    const known = changeable(card, mayChange)
    return known.outcome === 'known' ? decideList(tx, known.card, terms, author.now) : known
  }, 'snapshot')
}

/** Compares with the prices that would hold otherwise from then on. */
async function decideList(
  db: Queryable,
  card: RateCard,
  { lines, validFrom }: PriceTerms,
  now: EpochMs,
): Promise<NewList | Invalid> {
  const valid_from = validFrom ?? now
  const issues = [...timeIssues(validFrom, now), ...lineIssues(lines)]
  if (issues.length > 0) return { outcome: 'invalid', issues }
  const former = listAt(await listsOfCard(db, card.id), valid_from)
  const before = former === undefined ? undefined : await findLines(db, card.id, former.version)
  return { outcome: 'set', card, valid_from, changed: changedLines(linesIn(before ?? ''), lines) }
}

function timeIssues(validFrom: EpochMs | undefined, now: EpochMs): ValidationIssue[] {
  if (validFrom === undefined) return []
  if (validFrom < now)
    return [{ path: '/valid_from', message: 'must not be in the past: what was sent before keeps its price' }]
  return validFrom > now + MAX_VALID_FROM_AHEAD_MS
    ? [{ path: '/valid_from', message: 'must be at most 90 days ahead' }]
    : []
}

/** Instead of thousands of lines. */
function hashOf(lines: readonly RateLine[]): string {
  return createHash('sha256').update(writeLines(lines)).digest('base64')
}

type Known = { outcome: 'known'; card: RateCard } | NotChangeable | Archived

async function lockCard(tx: Transaction, id: number, mayChange: VersionCheck): Promise<Known> {
  await lockRateCards(tx)
  return changeable(await findRateCard(tx, id), mayChange)
}

function changeable(card: RateCard | undefined, mayChange: VersionCheck): Known {
  if (card === undefined) return { outcome: 'not_found' }
  if (!mayChange(card.version)) return { outcome: 'version_mismatch', version: card.version }
  return card.archived_at === null ? { outcome: 'known', card } : { outcome: 'rate_card_archived' }
}

/** Writes a card and its history. If it becomes the default, another one is no longer. */
async function record(
  tx: Transaction,
  action: ActionOn<'rate_card'>,
  before: RateCard | null,
  after: RateCard,
  author: Author,
): Promise<void> {
  if (after.is_default && before?.is_default !== true) {
    const other = await findDefaultCard(tx)
    const changed = other && changeRateCard(other, { is_default: false }, author)
    if (other !== undefined && changed?.outcome === 'changed') await record(tx, 'updated', other, changed.card, author)
  }
  await writeRateCard(tx, after)
  const { id } = after
  const version = await nextVersion(tx, 'rate_card', id)
  await insertChanges(
    tx,
    'rate_card',
    [{ id, version, action, before: before && rateCardViewOf(before), after: rateCardViewOf(after) }],
    author,
  )
}
