import { ConnectionLost } from '../db/connection/database.ts'
import { BEGIN, COMMIT, type PipelinedConnection, type StatementCall } from '../db/connection/pipelined-connection.ts'
import type { DenialRow } from '../db/ledger/add-denials.ts'
import { emitEvents } from '../db/ledger/add-events.ts'
import { guardAbsent, guardUnchanged, writeChanges } from '../db/ledger/changes.ts'
import { writeAccounts } from '../db/ledger/locks.ts'
import { cardsOfNewcomer, NO_RATES } from '../domain/rates/rate-book.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import { decide } from '../domain/units/decide.ts'
import { denialOf } from '../domain/units/denial.ts'
import { createDraft, type Draft, type EndedQuota } from '../domain/units/draft.ts'
import type { Enforcement } from '../domain/units/drawing.ts'
import type { DenialReason } from '../domain/units/reservation.ts'
import type { KeyOf } from '../domain/units/value-counter.ts'
import { authorshipOf, type BatchAuthorship, isNew, loadAuthorshipOfFound, withAuthorship } from './authorship.ts'
import { addChanges, type BatchChanges, eventsOf, noChanges } from './changes.ts'
import type { DenialSample, DenialSampler } from './denial-sampler.ts'
import type { Memory } from './memory.ts'
import { asPreview, type Newcomers, previewsOf } from './newcomers.ts'
import type { PrincipalIds, Principals } from './principals.ts'
import {
  endedQuotasOf,
  entryOf,
  type Locking,
  lockStates,
  readStates,
  type UserStates,
  usersOf,
} from './user-states.ts'

/** Commands that are decided together, and what they are decided with. */
export interface BatchInput {
  readonly commands: readonly Command[]
  readonly now: EpochMs
  /**
   * The `seq` with which the batch's new reservations begin, at random: an id that is used again after its reservation was
   * removed must not look like the row that another process remembers.
   */
  readonly firstSeq: number
  readonly principals: Principals
  /** The hashes of the values that caps count each by itself. */
  readonly keyOf: KeyOf
  readonly enforcement: Enforcement
  readonly keepsUsage: boolean
  /** Chooses the denials that are logged; null: none are. */
  readonly denialSampler: DenialSampler | null
  /** Null: users without quotas get none. */
  readonly newcomers: Newcomers | null
}

/** A batch that is durable: its outcomes in the order of its commands, and the time that each stage took, in ms. */
interface CommittedBatch {
  outcomes: Outcome[]
  stages: { load: number; decide: number; write: number }
}

/**
 * Runs a batch in locked mode, which no other transaction can disturb. It locks the users' accounts, where administrators'
 * changes lock too, reads the users' rows, decides, writes and commits. Two round trips.
 */
export async function runLocked(
  connection: PipelinedConnection,
  batch: BatchInput,
  memory: Memory,
  locking: Locking,
): Promise<CommittedBatch> {
  const began = performance.now()
  const before = await readBefore(connection, batch)
  const states = await lockStates(connection, batch, locking)
  const loaded = performance.now()
  const decided = decideAll(batch, states, before)
  // The rows are locked: those that the batch does not write need no check.
  const calls = await writesOf(connection, batch, decided)
  const ready = performance.now()
  decided.outcomes = await commit(connection, batch, calls, decided.outcomes)
  decided.sample?.keep()
  remember(memory, states, decided)
  const stages = { load: loaded - began, decide: ready - loaded, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

/** The reads of a batch in optimistic mode. */
export interface Reading {
  /** Whether to read ids that are taken to be new, too. */
  readonly readsNewIds: boolean
  /** Called with what the batch is decided on, for when it fails. */
  onRead(states: UserStates): void
}

/**
 * Runs a batch in optimistic mode. It reads without a lock what memory lacks, decides, and sends the whole transaction at
 * once, in which every row that the decisions read is guarded. One round trip if memory has everything.
 */
export async function runOptimistic(
  connection: PipelinedConnection,
  batch: BatchInput,
  memory: Memory,
  { readsNewIds, onRead }: Reading,
): Promise<CommittedBatch> {
  const began = performance.now()
  const before = await readBefore(connection, batch)
  const states = await readStates(connection, batch, memory, readsNewIds)
  onRead(states)
  const loaded = performance.now()
  const decided = decideAll(batch, states, before)
  const calls = [
    ...guardAbsent(batch, deniedOf(batch, decided.outcomes)),
    ...(await writesOf(connection, batch, decided)),
    ...guardUnchanged(batch, decided.changes.unchanged),
  ]
  const ready = performance.now()
  if (calls.length > 0) decided.outcomes = await commit(connection, batch, [BEGIN, ...calls], decided.outcomes)
  decided.sample?.keep()
  remember(memory, states, decided)
  const stages = { load: loaded - began, decide: ready - loaded, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

/**
 * The denied draws. Their ids were taken to be new, and only an insert would fail if they are not: a repetition must get
 * the answer of its first attempt, and not a denial because that attempt took the last units.
 */
function deniedOf({ commands }: BatchInput, outcomes: readonly Outcome[]): Command[] {
  return commands.filter(({ op }, index) => op !== 'check' && outcomes[index]?.outcome === 'denied')
}

/** Whether the answer shows the effect of an earlier command: a reservation that was there before. */
function reportsEarlierEffect(outcome: Outcome | undefined): boolean {
  if (outcome === undefined || isNew(outcome)) return false
  return outcome.outcome !== 'denied' && outcome.outcome !== 'not_found'
}

/** Rows that are read before the transaction, and not guarded: no decision depends on them. */
interface ReadBefore {
  readonly ended: ReadonlyMap<number, readonly EndedQuota[]>
  readonly ids: PrincipalIds
}

async function readBefore(connection: PipelinedConnection, batch: BatchInput): Promise<ReadBefore> {
  const ids = await batch.principals.idsOf(connection, batch)
  return { ids, ended: await endedQuotasOf(connection, batch) }
}

interface Decisions {
  outcomes: Outcome[]
  changes: BatchChanges
  drafts: ReadonlyMap<number, Draft>
  /** The choice of denials to be logged; null if none are logged. */
  sample: DenialSample | null
}

/** Decides the commands in their order, each on what the ones before it have made of its user's state. */
function decideAll(
  { commands, now, firstSeq, keyOf, enforcement, keepsUsage, denialSampler, newcomers }: BatchInput,
  states: UserStates,
  { ended, ids }: ReadBefore,
): Decisions {
  const previews = previewsOf(newcomers, commands, states, now)
  const drafts = new Map<number, Draft>()
  for (const [user, { quotas, reservations, counters: stored, cards }] of states) {
    const explainsDenials = denialSampler?.hasRoom(user, now) ?? false
    drafts.set(
      user,
      createDraft(user, previews.get(user) ?? quotas, reservations.values(), {
        ended: ended.get(user) ?? [],
        explainsDenials,
        keyOf,
        stored,
        ...(cards === undefined
          ? {}
          : { cards: previews.has(user) ? cardsOfNewcomer(enforcement.rates ?? NO_RATES) : cards }),
      }),
    )
  }
  const outcomes = commands.map(command => {
    const outcome = decide(entryOf(drafts, command.user_id), command, now, enforcement)
    return previews.size > 0 && previews.has(command.user_id) ? asPreview(outcome) : outcome
  })
  const changes = noChanges()
  const authorship = authorshipOf(commands, outcomes, ids)
  for (const [user, state] of states) addChanges(changes, state, entryOf(drafts, user), authorship, firstSeq)
  changes.actions = authorship.actions
  if (!keepsUsage) changes.usage = []
  const sample = denialSampler?.begin(now) ?? null
  if (sample !== null) changes.denied = denialsToLog(commands, outcomes, sample, authorship)
  return { outcomes, changes, drafts, sample }
}

/** The log entries of the denials that are chosen. */
function denialsToLog(
  commands: readonly Command[],
  outcomes: readonly Outcome[],
  sample: DenialSample,
  { idOf }: BatchAuthorship,
): DenialRow[] {
  const denials: DenialRow[] = []
  for (const [index, command] of commands.entries()) {
    const outcome = outcomes[index]
    if (outcome?.outcome !== 'denied' || (command.op !== 'reserve' && command.op !== 'consume')) continue
    const skipped = sample.take(command.user_id)
    if (skipped === false) continue
    const sender = idOf(command.origin?.principal ?? null)
    denials.push({ ...denialOf(command, command.op, outcome, skipped), sender })
  }
  return denials
}

/**
 * The calls that write a batch's changes and its events, in order.
 *
 * An answer that reports an earlier effect comes from a transaction that itself writes: with a synchronous standby that
 * effect may be visible here and missing there, and only a commit that writes waits for the standby. A batch that has
 * nothing else to write then writes the users' accounts.
 */
async function writesOf(
  connection: PipelinedConnection,
  batch: BatchInput,
  { outcomes, changes }: Decisions,
): Promise<StatementCall[]> {
  const events = await eventsOf(connection, batch, changes)
  const writes = [...writeChanges(batch, changes), ...emitEvents(batch, events)]
  if (writes.length > 0) return writes
  const reported = batch.commands.filter((_, index) => reportsEarlierEffect(outcomes[index]))
  return reported.length === 0 ? [] : [writeAccounts.call(batch, usersOf(reported))]
}

/** The connection was lost with the commit: the batch may be committed or not. */
class UnknownOutcome extends ConnectionLost {
  override name = 'UnknownOutcome'
  /** The outcomes of the batch's commands if it is committed. */
  readonly outcomes: readonly Outcome[]

  constructor(outcomes: readonly Outcome[], cause: unknown) {
    super('the outcome of a commit is unknown', cause)
    this.outcomes = outcomes
  }
}

/**
 * Sends the calls and a commit. Only the tag COMMIT is success: after an error a commit answers ROLLBACK, not an error.
 * Who made and settled the reservations that were found is read in the same transaction.
 * @throws UnknownOutcome if the connection is lost
 */
async function commit(
  connection: PipelinedConnection,
  batch: BatchInput,
  calls: readonly StatementCall[],
  outcomes: Outcome[],
): Promise<Outcome[]> {
  const authorshipCalls = loadAuthorshipOfFound(batch, outcomes)
  const results = await connection.run([...calls, ...authorshipCalls, COMMIT]).catch(error => {
    throw error instanceof ConnectionLost ? new UnknownOutcome(outcomes, error) : error
  })
  const tag = results.at(-1)?.tag
  if (tag !== 'COMMIT') throw new Error(`the batch was not committed: the server answered ${tag}`)
  return authorshipCalls.length === 0 ? outcomes : withAuthorship(batch, outcomes, results.at(-2))
}

/** The effects of a batch by command, if it is committed after all. None if it failed before its commit. */
export function effectsOf(commands: readonly Command[], failure: ConnectionLost): Map<Command, Outcome> {
  const effects = new Map<Command, Outcome>()
  if (!(failure instanceof UnknownOutcome)) return effects
  for (const [index, command] of commands.entries()) {
    const outcome = failure.outcomes[index]
    if (outcome !== undefined && isNew(outcome)) effects.set(command, outcome)
  }
  return effects
}

/** Remembers the rows as the commit left them: each row that was written has its next `seq`. */
function remember(memory: Memory, states: UserStates, { drafts, changes }: Decisions): void {
  for (const [user, { quotas, cards }] of states) {
    const draft = entryOf(drafts, user)
    memory.rememberQuotas(
      user,
      quotas.map((before, index) => {
        const after = draft.quotas[index] ?? before
        const isWritten =
          after.window_no !== before.window_no ||
          after.used !== before.used ||
          after.reserved !== before.reserved ||
          after.alerted !== before.alerted
        return isWritten ? { ...after, seq: before.seq + 1 } : before
      }),
      cards,
    )
  }
  for (const added of changes.added) memory.rememberReservation(added)
  for (const settled of changes.settled) memory.rememberReservation({ ...settled, seq: settled.seq + 1 })
  for (const unchanged of changes.unchanged.reservations) memory.rememberReservation(unchanged)
}

/** The report of a batch, for metrics. Times are in milliseconds. */
export interface BatchReport {
  mode: 'optimistic' | 'locked'
  commands: number
  /** The number of times that it was started again: after conflicts, lost connections, locks. */
  retries: number
  stages: CommittedBatch['stages']
  outcomes: CountedOutcome[]
}

interface CountedOutcome {
  op: Command['op']
  outcome: Outcome['outcome']
  /** Why it was denied, or would have been if it was observed only; null for all else. */
  reason: DenialReason | null
  count: number
}

function reasonOf(outcome: Outcome | undefined): DenialReason | null {
  if (outcome?.outcome === 'denied') return outcome.reason
  return outcome?.outcome === 'granted' ? outcome.would_deny : null
}

export function reportOf(
  mode: BatchReport['mode'],
  commands: readonly Command[],
  { outcomes, stages }: CommittedBatch,
  retries: number,
): BatchReport {
  // A handful of kinds, and most of the time one: a scan is cheaper than a key.
  const counts: CountedOutcome[] = []
  for (const [index, { op }] of commands.entries()) {
    const outcome = outcomes[index]?.outcome ?? 'not_found'
    const reason = reasonOf(outcomes[index])
    const known = counts.find(kind => kind.op === op && kind.outcome === outcome && kind.reason === reason)
    if (known === undefined) counts.push({ op, outcome, reason, count: 1 })
    else known.count += 1
  }
  return { mode, commands: commands.length, retries, stages, outcomes: counts }
}
