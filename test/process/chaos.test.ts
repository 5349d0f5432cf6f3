/**
 * Everything at once: sixty-four senders on two services over one database, administrators, windows that end every three
 * seconds, partial settlements, retention and the sweeper, while processes are killed. Afterwards the books of those
 * who asked must be the ledger's.
 *
 *     CHAOS_ROUNDS=20 SEED=… npx vitest run test/process/chaos.test.ts
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { verify } from '../../src/db/verify.ts'
import { createAdministrators } from '../support/chaos/administrators.ts'
import { createBooks, judge } from '../support/chaos/books.ts'
import { FORCING_USERS, startSenders } from '../support/chaos/senders.ts'
import { createWorld, type Victim } from '../support/chaos/world.ts'
import { seededRandom } from '../support/ledger.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const rounds = Number(process.env.CHAOS_ROUNDS ?? 6)
const random = seededRandom(seed)
const world = await createWorld(random)
const books = createBooks()

const VICTIMS: readonly Victim[] = ['service', 'backend', 'postmaster']

/** Windows that hold more than they may at this very moment, of quotas that nobody lowered or forced. */
async function oversoldNow(): Promise<object[]> {
  const rows = await world.db.query<{ id: number }>({
    text: `select id, user_id, used, reserved, "limit", rolled_over, overage_limit from quota
      where used + reserved > "limit" + rolled_over + overage_limit and user_id <> all($1)`,
    values: [FORCING_USERS],
  })
  return rows.filter(({ id }) => !books.lowered.has(id))
}

/** What a look at the database says; undefined while it is away. */
const unlessAway = <T>(look: Promise<T>) => look.catch(() => undefined)

test(
  `${rounds} rounds of kill -9: nothing acknowledged is lost, nothing is charged twice, the counters equal the ledger`,
  async () => {
    console.log(`SEED=${seed}`)
    onTestFailed(() => console.error(`SEED=${seed} makes the same choices. The services said:\n${world.words()}`))
    const administrators = createAdministrators(world, books, random)
    await administrators.furnish()
    const senders = startSenders(world, books, random)
    const changing = administrators.start()
    const killed: string[] = []
    let proofs = 0

    for (let round = 0; round < rounds; round++) {
      // Under load, some of which is acknowledged.
      const before = books.acknowledged
      await expect.poll(() => books.acknowledged, { timeout: 30_000 }).toBeGreaterThan(before + 50)
      await pause(300 + random() * 1_500)
      killed.push(await world.kill(VICTIMS[round % VICTIMS.length] ?? 'service'))
      if (random() < 0.3) killed.push(await world.kill('service'))
      const verified = await unlessAway(verify(world.db))
      if (verified !== undefined) {
        expect(verified.differences).toEqual([])
        proofs += 1
      }
      expect((await unlessAway(oversoldNow())) ?? []).toEqual([])
      expect(world.faults).toEqual([])
      expect(books.contradictions).toEqual([])
    }
    const acknowledged = books.acknowledged
    await expect.poll(() => books.acknowledged, { timeout: 30_000 }).toBeGreaterThan(acknowledged + 500)

    await senders.stop()
    await changing.stop()
    await closeAll()
    const judgement = await judge(books, world.db)
    const { lost, unknown, different, sums, oversold, uncapped, ...figures } = judgement
    const { entries, denied, replayed, settled, unanswered } = books
    console.log({
      killed: killed.join(', '),
      ...{ acknowledged: books.acknowledged, ids: entries.size, denied, replayed, settled, unanswered },
      ...{ administrators: administrators.changes, proofs, ...figures, lost: lost.length, oversold: oversold.length },
    })
    expect({ lost, unknown, different, sums, oversold, uncapped }).toEqual({
      ...{ lost: [], unknown: [], different: [], sums: [], oversold: [], uncapped: [] },
    })
    expect((await verify(world.db)).differences).toEqual([])
    expect(await untrueEvents()).toEqual([])
    expect(world.faults).toEqual([])
    expect(books.contradictions).toEqual([])
    // It was a test of all that, not of an idle service.
    expect(Math.min(denied, replayed, settled, unanswered, administrators.changes, proofs)).toBeGreaterThan(0)
  },
  60_000 + rounds * 20_000,
)

/** Gaps in the outbox, percents told twice, and reservations closed by time of which nothing is told. */
function untrueEvents(): Promise<object[]> {
  return world.db.query({
    text: `
      select 'gap' as what, shard::text as of from event group by shard having max(number) <> count(*)
      union all select 'gap', user_id::text from event group by shard, user_id having max(sequence) <> count(*)
      union all select 'percent twice', min(number)::text from event where type = 'quota.threshold_reached'
        group by data -> 'quota' -> 'id', data -> 'quota' -> 'window_start', data -> 'percent' having count(*) > 1
      union all select 'not told', r.id from reservation r where r.expired and not exists (
        select 1 from event e where e.shard = r.shard and e.user_id = r.user_id and e.type = 'reservation.expired'
          and e.data -> 'reservation' ->> 'id' = r.id)
      limit 10`,
  })
}

/** Time closes what is open: the sweeper does it, or whoever looks. */
async function closeAll(): Promise<void> {
  const open = () =>
    world.db.query<{ user_id: number; id: string; expires_at: number }>({
      text: 'select user_id, id, expires_at from reservation where committed + released < units',
    })
  const closing = async () => {
    const rows = await open()
    const due = rows.filter(({ expires_at }) => expires_at <= world.now() - 600_000)
    for (const { user_id, id } of due.slice(0, 200)) {
      await world.call('GET', `/api/sms/sender/quota/reservations/${user_id}/${id}`)
    }
    return rows.length
  }
  await expect.poll(closing, { timeout: 30_000, interval: 200 }).toBe(0)
}
