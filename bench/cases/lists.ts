/** Lists and summaries in a database of a million quotas, compared with one of ten thousand, as in `npm run plans`. */
import { type Comparison, compare, type Side } from '../compare.ts'
import { loadQuotas } from '../load.ts'
import type { Bench, Findings, Row } from './bench.ts'

const MAX_RATIO = 1.5

export async function listsCase({ postgres, say, now }: Bench): Promise<Findings> {
  const [small, large] = [await load(10_000), await load(1_000_000)]
  async function load(quotas: number): Promise<Side> {
    say(`lists: filling ${quotas.toLocaleString('en')} quotas`)
    const { db } = await postgres.make(`bench_lists_${quotas}`)
    const loaded = { quotas, users: quotas / 10, now }
    await loadQuotas(db, loaded)
    return { db, loaded }
  }
  say('lists: measuring')
  return { rows: (await compare(small, large)).map(rowOf), details: [], notes: [] }
}

function rowOf({ what, one, other }: Comparison): Row {
  const ratio = other.p99 / one.p99
  return {
    what: `${what}: p99, ${other.name}`,
    peer: one.name,
    ours: `${other.p99.toFixed(2)} ms`,
    theirs: `${one.p99.toFixed(2)} ms`,
    ratio,
    goal: `≤ ${MAX_RATIO}×`,
    isMet: ratio <= MAX_RATIO,
  }
}
