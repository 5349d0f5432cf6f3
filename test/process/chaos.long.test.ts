/**
 * Sixty-four senders on two services over one database, with administrators, windows that end every three seconds,
 * twins, partial settlements, retention and the sweeper, while processes are killed, backends cancelled and rows held by
 * strangers. Destinations are paused by administrators, and by the breaker. Afterwards the clients' records of all answers must equal the ledger. Then users that were never seen send, and get the
 * default plan, during further kills.
 *
 *     CHAOS_ROUNDS=20 SEED=… npx vitest run test/process/chaos.long.test.ts
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { createAdministrators } from '../support/chaos/administrators.ts'
import { createCaller, NO_USER } from '../support/chaos/caller.ts'
import {
  chargedDenials,
  checkRun,
  countExpired,
  misnamedLimits,
  oversoldNow,
  unavailableInCalm,
  wrongEvents,
} from '../support/chaos/checks.ts'
import { createDeployment } from '../support/chaos/deployment.ts'
import { createFaults, type Victim } from '../support/chaos/faults.ts'
import { staleAnswers } from '../support/chaos/http-call.ts'
import { breakerFaults, pauseFaults, startPauses } from '../support/chaos/pauses.ts'
import { createRunRecord, KINDS } from '../support/chaos/record.ts'
import { startSenders } from '../support/chaos/senders.ts'
import { seededRandom } from '../support/ledger.ts'
import { byId, byReference, DEFAULT_PLAN, expectGivenOnce, nothingSent, sendOfStrangers } from '../support/strangers.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const rounds = Number(process.env.CHAOS_ROUNDS ?? 3)
const random = seededRandom(seed)
const deployment = await createDeployment()
const record = createRunRecord()
const faults = createFaults(deployment, record, random)
const { db } = deployment

const VICTIMS: readonly Victim[] = ['service', 'backend', 'postmaster']
const WAVES = 9
/** Strangers of a wave that are named by id, and as many by reference. */
const WAVE = 12
/** In every tenth round, nothing goes wrong before the kill but rows that are held. */
const CALM_EVERY = 10

/** The result of a query, or undefined while the database is down. */
const unlessDown = <T>(query: Promise<T>) => query.catch(() => undefined)

/** What must hold at any time. */
async function checkNow(): Promise<void> {
  const verified = await unlessDown(verify(db))
  if (verified !== undefined) {
    expect(verified.differences).toEqual([])
    record.count('verifications')
  }
  expect((await unlessDown(oversoldNow(record, db))) ?? []).toEqual([])
  expect((await unlessDown(chargedDenials(record, db))) ?? []).toEqual([])
  expect(deployment.serviceErrors).toEqual([])
  expect(record.contradictions).toEqual([])
  const { ofHeld, ofOthers } = unavailableInCalm(record)
  record.counts['unavailable while held'] = ofHeld
  expect(ofOthers).toEqual([])
}

test(
  `${rounds} rounds of kill -9 lose nothing acknowledged, charge nothing twice, and keep counters equal to the ledger`,
  async () => {
    console.log(`SEED=${seed}`)
    const killed: string[] = []
    const report = () => ({
      killed: killed.join(', '),
      acknowledged: record.acknowledged,
      ids: record.entries.size,
      ...record.counts,
      // What the engine cannot tell: see `mayBeFirstAgain`.
      'first again': record.firstAgain.length,
    })
    onTestFailed(() => {
      console.error(`SEED=${seed} repeats the same choices. Output of the services:\n${deployment.output()}`)
      console.error(report())
    })
    const administrators = createAdministrators(deployment, record, random)
    await administrators.createInitialQuotas()
    const senders = startSenders(deployment, record, random)
    const changing = administrators.start()
    const pausing = await startPauses(deployment, record, random)
    faults.start()

    for (let round = 0; round < rounds; round++) {
      // Kills under load: some commands are acknowledged, some in flight.
      const before = record.acknowledged
      await expect.poll(() => record.acknowledged, { timeout: 120_000 }).toBeGreaterThan(before + 50)
      await (round % CALM_EVERY === 0 ? faults.holdInCalm(senders.sendOneOf) : pause(100 + random() * 800))
      killed.push(await faults.kill(VICTIMS[round % VICTIMS.length] ?? 'service'))
      if (random() < 0.3) killed.push(await faults.kill('service'))
      await checkNow()
    }
    const acknowledged = record.acknowledged
    await expect.poll(() => record.acknowledged, { timeout: 120_000 }).toBeGreaterThan(acknowledged + 200)
    await expect.poll(() => record.counts['trips of the breaker'], { timeout: 120_000 }).toBeGreaterThan(1)

    await faults.stop()
    await senders.stop()
    await changing.stop()
    await pausing.stop()
    await closeAll()
    await checkNow()
    const { reservations, forgotten, windows, ...faultsFound } = await checkRun(record, db)
    record.count('expired', await countExpired(db))
    const pausesFound = await pauseFaults(record, db)
    console.log({ ...report(), reservations, forgotten, windows })
    expect(faultsFound).toEqual({ lost: [], unknown: [], different: [], sums: [], oversold: [], uncapped: [] })
    expect(pausesFound).toEqual([])
    expect(await breakerFaults(db)).toEqual([])
    expect(await misnamedLimits(record, db)).toEqual([])
    expect(await wrongEvents(db)).toEqual([])
    expect(await staleAnswers(deployment)).toEqual([])
    expect((await verify(db)).differences).toEqual([])
    expect(KINDS.filter(kind => record.counts[kind] === 0)).toEqual([])
  },
  // Ends only what hangs.
  600_000 + rounds * 60_000,
)

test(`${WAVES} waves of strangers, by id and by reference, during kill -9: each gets the default plan once, and is charged once for each message`, async () => {
  onTestFailed(() => console.error(`SEED=${seed} repeats the same choices. Output:\n${deployment.output()}`))
  const call = createCaller(deployment, createRunRecord(), random)
  const plan = { method: 'POST', path: '/api/sms/admin/plans', body: DEFAULT_PLAN, key: 'default-plan' } as const
  expect((await call(NO_USER, plan)).status).toBe(201)
  const strangers = [...byId(WAVES * WAVE), ...byReference(WAVES * WAVE)]
  const sent = nothingSent()
  for (let wave = 0; wave < WAVES; wave++) {
    await sendOfStrangers(
      strangers.filter((_, index) => index % WAVES === wave),
      async (op, body) => (await call(NO_USER, { method: 'POST', path: `/api/sms/sender/quota/${op}`, body })).body,
      async (_round, calls) => {
        // Sooner or later in the transactions that make the user and give the plan.
        await pause(random() * 150)
        await faults.kill(VICTIMS[wave % VICTIMS.length] ?? 'service')
        if (random() < 0.3) await faults.kill('service')
        await calls
      },
      sent,
    )
  }
  expect(deployment.serviceErrors).toEqual([])
  await expectGivenOnce(db, strangers, sent)
}, 600_000)

/** Waits until no reservation is open: the sweeper closes expired ones, and so does reading them. */
async function closeAll(): Promise<void> {
  const open = () =>
    db.query<{ user_id: number; id: string; expires_at: number }>({
      text: sql`select user_id, id, expires_at from reservation where committed + released < units`,
    })
  const closing = async () => {
    const rows = await open()
    const due = rows.filter(({ expires_at }) => expires_at <= deployment.now() - 600_000)
    for (const { user_id, id } of due.slice(0, 200)) {
      await deployment.call(0, 'GET', `/api/sms/sender/quota/reservations/${user_id}/${id}`)
    }
    return rows.length
  }
  await expect.poll(closing, { timeout: 120_000, interval: 200 }).toBe(0)
}
