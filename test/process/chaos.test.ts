/**
 * Sixty-four senders on two services over one database, with administrators, windows that end every three seconds,
 * partial settlements, retention and the sweeper, while processes are killed. Afterwards the clients' records of all
 * answers must equal the ledger.
 *
 *     CHAOS_ROUNDS=20 SEED=… npx vitest run test/process/chaos.test.ts
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { verify } from '../../src/db/verify.ts'
import { createAdministrators } from '../support/chaos/administrators.ts'
import { createBooks, judge } from '../support/chaos/books.ts'
import { createDeployment, type Victim } from '../support/chaos/deployment.ts'
import { FORCING_USERS, startSenders } from '../support/chaos/senders.ts'
import { seededRandom } from '../support/ledger.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const rounds = Number(process.env.CHAOS_ROUNDS ?? 6)
const random = seededRandom(seed)
const deployment = await createDeployment(random)
const books = createBooks()

const VICTIMS: readonly Victim[] = ['service', 'backend', 'postmaster']

/** Quotas that exceed their limit now, except for lowered limits and users with forced commands. */
async function oversoldNow(): Promise<object[]> {
  const rows = await deployment.db.query<{ id: number }>({
    text: `select id, user_id, used, reserved, "limit", rolled_over, overage_limit from quota
      where used + reserved > "limit" + rolled_over + overage_limit and user_id <> all($1)`,
    values: [FORCING_USERS],
  })
  return rows.filter(({ id }) => !books.lowered.has(id))
}

/** The result of a query, or undefined while the database is down. */
const unlessDown = <T>(query: Promise<T>) => query.catch(() => undefined)

test(
  `${rounds} rounds of kill -9 lose nothing acknowledged, charge nothing twice, and keep counters equal to the ledger`,
  async () => {
    console.log(`SEED=${seed}`)
    onTestFailed(() =>
      console.error(`SEED=${seed} repeats the same choices. Output of the services:\n${deployment.output()}`),
    )
    const administrators = createAdministrators(deployment, books, random)
    await administrators.createInitialQuotas()
    const senders = startSenders(deployment, books, random)
    const changing = administrators.start()
    const killed: string[] = []
    let verifications = 0

    for (let round = 0; round < rounds; round++) {
      // Kills under load: some commands are acknowledged, some in flight.
      const before = books.acknowledged
      await expect.poll(() => books.acknowledged, { timeout: 30_000 }).toBeGreaterThan(before + 50)
      await pause(300 + random() * 1_500)
      killed.push(await deployment.kill(VICTIMS[round % VICTIMS.length] ?? 'service'))
      if (random() < 0.3) killed.push(await deployment.kill('service'))
      const verified = await unlessDown(verify(deployment.db))
      if (verified !== undefined) {
        expect(verified.differences).toEqual([])
        verifications += 1
      }
      expect((await unlessDown(oversoldNow())) ?? []).toEqual([])
      expect(deployment.serviceErrors).toEqual([])
      expect(books.contradictions).toEqual([])
    }
    const acknowledged = books.acknowledged
    await expect.poll(() => books.acknowledged, { timeout: 30_000 }).toBeGreaterThan(acknowledged + 500)

    await senders.stop()
    await changing.stop()
    await closeAll()
    const judgement = await judge(books, deployment.db)
    const { lost, unknown, different, sums, oversold, uncapped, ...figures } = judgement
    const { entries, denied, replayed, settled, unanswered } = books
    console.log({
      killed: killed.join(', '),
      ...{ acknowledged: books.acknowledged, ids: entries.size, denied, replayed, settled, unanswered },
      ...{
        administrators: administrators.changes,
        verifications,
        ...figures,
        lost: lost.length,
        oversold: oversold.length,
      },
    })
    expect({ lost, unknown, different, sums, oversold, uncapped }).toEqual({
      ...{ lost: [], unknown: [], different: [], sums: [], oversold: [], uncapped: [] },
    })
    expect((await verify(deployment.db)).differences).toEqual([])
    expect(await wrongEvents()).toEqual([])
    expect(deployment.serviceErrors).toEqual([])
    expect(books.contradictions).toEqual([])
    // Every kind of event occurred at least once.
    expect(Math.min(denied, replayed, settled, unanswered, administrators.changes, verifications)).toBeGreaterThan(0)
  },
  60_000 + rounds * 20_000,
)

/** Gaps in the outbox, thresholds emitted twice, and expired reservations without an event. */
function wrongEvents(): Promise<object[]> {
  return deployment.db.query({
    text: `
      select 'gap' as what, shard::text as of from event group by shard having max(number) <> count(*)
      union all select 'gap', user_id::text from event group by shard, user_id having max(sequence) <> count(*)
      union all select 'percent twice', min(number)::text from event where type = 'quota.threshold_reached'
        group by data -> 'quota' -> 'id', data -> 'quota' -> 'window_start', data -> 'percent' having count(*) > 1
      union all select 'no event', r.id from reservation r where r.expired and not exists (
        select 1 from event e where e.shard = r.shard and e.user_id = r.user_id and e.type = 'reservation.expired'
          and e.data -> 'reservation' ->> 'id' = r.id)
      limit 10`,
  })
}

/** Waits until no reservation is open: the sweeper closes expired ones, and so does reading them. */
async function closeAll(): Promise<void> {
  const open = () =>
    deployment.db.query<{ user_id: number; id: string; expires_at: number }>({
      text: 'select user_id, id, expires_at from reservation where committed + released < units',
    })
  const closing = async () => {
    const rows = await open()
    const due = rows.filter(({ expires_at }) => expires_at <= deployment.now() - 600_000)
    for (const { user_id, id } of due.slice(0, 200)) {
      await deployment.call('GET', `/api/sms/sender/quota/reservations/${user_id}/${id}`)
    }
    return rows.length
  }
  await expect.poll(closing, { timeout: 30_000, interval: 200 }).toBe(0)
}
