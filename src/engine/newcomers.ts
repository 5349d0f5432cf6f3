import type { Allowance } from '../domain/quotas/quota.ts'
import { cardsOfNewcomer, NO_RATES } from '../domain/rates/rate-book.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import { decide } from '../domain/units/decide.ts'
import { createDraft } from '../domain/units/draft.ts'
import type { Enforcement } from '../domain/units/drawing.ts'
import type { KeyOf } from '../domain/units/value-counter.ts'

/**
 * Users who never had a quota, and who get the default plan with their first reservation. The engine asks about users without any quota
 * only: those who have one cost nothing.
 */
export interface Newcomers {
  /** Whether a user without quotas may be one. False where it was found lately, or none may come now. */
  mayBe(userId: number): boolean
  /**
   * Gives the plan to those of the users who are newcomers. After that `mayBe` is false for the others. Rejects if the database cannot
   * do it now.
   */
  welcome(userIds: readonly number[]): Promise<void>
  /** Finds which of the users are newcomers, for commands that take nothing. After that `mayBe` is false for the others. */
  look(userIds: readonly number[]): Promise<void>
  /** The quotas that a newcomer would get; undefined if the user is not known as one. */
  previewOf(userId: number, now: EpochMs): readonly Allowance[] | undefined
  /** The quotas that a user would get who is not made yet. Rejects if the database cannot answer. */
  previewOfUnmade(now: EpochMs): Promise<readonly Allowance[]>
}

/** A batch has users who may be newcomers, and is to go again when they are welcomed. Nothing was written. */
export class NewcomersFound extends Error {
  override name = 'NewcomersFound'
  readonly users: ReadonlySet<number>

  constructor(users: ReadonlySet<number>) {
    super('users without quotas may get the default plan')
    this.users = users
  }
}

const isDraw = ({ op }: Command) => op === 'reserve' || op === 'consume'

/** The users who get the plan by these commands: those who reserve or consume. */
const drawersOf = (commands: readonly Command[]) => new Set(commands.filter(isDraw).map(({ user_id }) => user_id))

/** Quotas by user, of newcomers whose commands only check. */
export type Previews = ReadonlyMap<number, readonly Allowance[]>
const NONE: Previews = new Map()

/**
 * What newcomers among the users without quotas would get, as far as their commands only check.
 * @throws NewcomersFound if there are others, or it is not known who is one
 */
export function previewsOf(
  newcomers: Newcomers | null,
  commands: readonly Command[],
  states: ReadonlyMap<number, { readonly quotas: readonly unknown[] }>,
  now: EpochMs,
): Previews {
  if (newcomers === null) return NONE
  const possible: number[] = []
  for (const [userId, { quotas }] of states) if (quotas.length === 0 && newcomers.mayBe(userId)) possible.push(userId)
  if (possible.length === 0) return NONE
  const drawers = drawersOf(commands)
  const checkers = new Set(commands.filter(({ op }) => op === 'check').map(({ user_id }) => user_id))
  const found = new Set(possible.filter(userId => drawers.has(userId)))
  const previews = new Map<number, readonly Allowance[]>()
  for (const userId of possible) {
    if (found.has(userId) || !checkers.has(userId)) continue
    const preview = newcomers.previewOf(userId, now)
    if (preview === undefined) found.add(userId)
    else previews.set(userId, preview)
  }
  if (found.size > 0) throw new NewcomersFound(found)
  return previews
}

/** The outcome of a check that was decided on a preview: its quotas have no ids yet, so 0 stands for each of them. */
export function asPreview(outcome: Outcome): Outcome {
  if (outcome.outcome !== 'granted' && outcome.outcome !== 'denied') return outcome
  const explanation = outcome.explanation?.map(line => ({ ...line, quota_id: 0 })) ?? null
  if (outcome.outcome === 'denied') {
    const { limiting_quota_id: limiting } = outcome
    return { ...outcome, explanation, limiting_quota_id: limiting === null ? null : 0 }
  }
  const draws = outcome.reservation.draws.map(draw => ({ ...draw, quota_id: 0 }))
  return { ...outcome, explanation, reservation: { ...outcome.reservation, draws } }
}

/** The outcome of a check for a user who is not made yet (`NO_USER_ID`): on what such a user would get. No row is read or written. */
export async function checkUnmade(
  newcomers: Newcomers | undefined,
  command: Command,
  now: EpochMs,
  { keyOf, enforcement }: { keyOf: KeyOf; enforcement: Enforcement },
): Promise<Outcome> {
  const quotas = (await newcomers?.previewOfUnmade(now)) ?? []
  const cards = cardsOfNewcomer(enforcement.rates ?? NO_RATES)
  return asPreview(decide(createDraft(command.user_id, quotas, [], { keyOf, cards }), command, now, enforcement))
}

/** Welcomes the newcomers among the users of a batch, so that it can go again. */
export async function welcomeAll(
  newcomers: Newcomers | null,
  commands: readonly Command[],
  { users }: NewcomersFound,
): Promise<void> {
  const drawers = drawersOf(commands)
  const drawing = [...users].filter(userId => drawers.has(userId))
  const checking = [...users].filter(userId => !drawers.has(userId))
  if (drawing.length > 0) await newcomers?.welcome(drawing)
  if (checking.length > 0) await newcomers?.look(checking)
}
