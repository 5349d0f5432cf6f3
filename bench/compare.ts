/** Compares how long lists and summaries take: in a small and a large database, on the first and on a deep page. */
import type { Database } from '../src/db/connection/database.ts'
import { listQuotas } from '../src/db/quotas/lists.ts'
import { quotasOfUser } from '../src/db/quotas/quotas.ts'
import { quotaIdOf, shardFrom } from '../src/domain/basics/shard.ts'
import type { LoadOptions } from './load.ts'
import { DAY, FIRST, NEWEST, PAGE_SIZE, SOONEST } from './statements.ts'

/** A database that `loadQuotas` filled. */
export interface Side {
  db: Database
  loaded: LoadOptions
}

interface Figures {
  name: string
  p50: number
  p99: number
}

export interface Comparison {
  what: string
  one: Figures
  other: Figures
}

/** Measured calls per side. */
export const CALLS = 4_000

export async function compare(small: Side, large: Side): Promise<Comparison[]> {
  const bySize = (what: string, work: Work) =>
    alternate(
      what,
      { name: titleOf(small), run: n => work(small, n) },
      { name: titleOf(large), run: n => work(large, n) },
    )
  const byDepth = (what: string, near: Work, far: Work) =>
    alternate(
      `${what}, ${titleOf(large)}`,
      { name: 'first page', run: n => near(large, n) },
      { name: 'deep by cursor', run: n => far(large, n) },
    )
  return [
    await bySize("A user's list, any user", userList),
    await bySize('Summary, any user', summary),
    await bySize('All users, newest first', firstById),
    await bySize('All users, newest first, deep by cursor', deepById),
    await bySize('All users, soonest expiry first', firstByExpiry),
    await bySize('All users, soonest expiry first, deep by cursor', deepByExpiry),
    await byDepth('All users, newest first', firstById, deepById),
    await byDepth('All users, soonest expiry first', firstByExpiry, deepByExpiry),
  ]
}

/** The `n`-th call to one side; users and places in a list vary with `n`. */
type Work = (side: Side, n: number) => Promise<unknown>

const userList: Work = ({ db, loaded }, n) =>
  listQuotas(db, { user_id: userOf(loaded, n) }, NEWEST, FIRST, PAGE_SIZE, loaded.now)
const summary: Work = ({ db, loaded }, n) => quotasOfUser(db, userOf(loaded, n), loaded.now)
const firstById: Work = ({ db, loaded }) => listQuotas(db, {}, NEWEST, FIRST, PAGE_SIZE, loaded.now)
const firstByExpiry: Work = ({ db, loaded }) => listQuotas(db, {}, SOONEST, FIRST, PAGE_SIZE, loaded.now)
/** A page in the older half. */
const deepById: Work = ({ db, loaded }, n) => {
  const id = quotaIdOf(1000 + Math.floor((loaded.quotas / 2 - 1000) * spread(n)), shardFrom(0))
  return listQuotas(db, {}, NEWEST, { after: { value: id, id } }, PAGE_SIZE, loaded.now)
}
/** A page after all expired quotas and after the next hundred days. */
const deepByExpiry: Work = ({ db, loaded }, n) => {
  const value = loaded.now + Math.floor((100 + 200 * spread(n)) * DAY)
  return listQuotas(db, {}, SOONEST, { after: { value, id: 1 } }, PAGE_SIZE, loaded.now)
}

function userOf({ users }: LoadOptions, n: number): number {
  return 1 + Math.floor(users * spread(n))
}

/** The `n`-th of a sequence that spreads evenly from 0 to 1, the same in each run. */
function spread(n: number): number {
  return (n * 0.6180339887498949) % 1
}

function titleOf({ loaded }: Side): string {
  return `${loaded.quotas.toLocaleString('en')} quotas`
}

interface Runner {
  name: string
  run(n: number): Promise<unknown>
}

/** Calls the two sides alternately and swaps their order each time. */
async function alternate(what: string, one: Runner, other: Runner): Promise<Comparison> {
  const times = new Map<Runner, number[]>([
    [one, []],
    [other, []],
  ])
  for (let n = 0; n < CALLS + CALLS / 10; n++) {
    for (const side of n % 2 === 0 ? [one, other] : [other, one]) {
      const time = await timeOf(() => side.run(n))
      // The first tenth only warms up.
      if (n >= CALLS / 10) times.get(side)?.push(time)
    }
  }
  const figures = (side: Runner) => {
    const taken = times.get(side) ?? []
    return { name: side.name, p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) }
  }
  return { what, one: figures(one), other: figures(other) }
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}
