/** What a process knows of pauses, and when. */
import { expect, test } from 'vitest'
import { createPause, liftPause } from '../../src/admin/pauses/pauses.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { createPauseReader } from '../../src/jobs/pause-reader.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { whenDone } from '../support/cleanup.ts'
import { createBench, draw, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench

async function pause(user_id: number | null, country: string, until: number | null = null): Promise<number> {
  const draft = {
    user_id,
    country,
    message_types: null,
    until,
    reason: null,
    origin: 'person',
    evidence: null,
    observed: false,
  } as const
  const made = await db.transaction(tx => createPause(tx, draft, bench.author()))
  if (made.outcome !== 'created') throw new Error(`not paused: ${made.outcome}`)
  return made.pause.id
}

/** What one process knows, with a clock that only tests move. */
function aProcess(on = db) {
  const time = { ms: 0 }
  const pauses = createPauses({ db: on, now: () => clock.now, monotonicMs: () => time.ms })
  return {
    pauses,
    time,
    idsOf: (country: string) => [...(pauses.known.get(country)?.values() ?? [])].flat().map(({ id }) => id),
  }
}

const log = { info() {}, warn() {}, error() {} }

test('a pause that one process makes denies at another, as soon as its job has read it, until it is lifted', async () => {
  const user = someone()
  await bench.quota({ user_id: user, limit: 100 })
  const { pauses } = aProcess()
  await pauses.read()
  const engine = bench.engine({ pauses })
  const consume = (id: string) => engine.submit(draw('consume', user, id, 1, { country: 'FR' }))
  expect(await consume('before')).toMatchObject({ outcome: 'granted' })

  // The other process: only the table is common to both.
  const { pauseMs } = await createPauseReader(pauses).step(new AbortController().signal)
  expect(pauseMs(300) + 300).toBeLessThanOrEqual(1_000)
  const runner = createJobRunner([createPauseReader(pauses)], { log, retryMs: 1 })
  whenDone(() => runner.stop())
  const id = await pause(user, 'FR')
  runner.start()
  const check = () => engine.submit(draw('check', user, '', 1, { country: 'FR' }))
  await expect.poll(check, { timeout: 30_000 }).toMatchObject({ outcome: 'denied', pause: { id } })
  expect(await consume('paused')).toMatchObject({ outcome: 'denied' })
  expect(await consume('before')).toMatchObject({ outcome: 'granted', replayed: true })
  await liftPause(db, id, bench.author())
  await expect.poll(check, { timeout: 30_000 }).toMatchObject({ outcome: 'granted' })
})

test('while the database is away the last known pauses hold, and their age grows', async () => {
  const network = await bench.network()
  const away = openDatabase({ url: network.url, maxConnections: 1 })
  whenDone(() => away.close())
  const { pauses, time, idsOf } = aProcess(bench.lanes === 1 ? away : db)
  const id = await pause(null, 'NA')
  await pauses.read()
  if (bench.lanes === 1) {
    network.cut()
    time.ms += 5_000
    await expect(pauses.read()).rejects.toThrow()
    expect([idsOf('NA'), pauses.ageMs]).toEqual([[id], 5_000])
    network.restore()
  }
  const [lifted, other] = [await liftPause(db, id, bench.author()), await pause(null, 'NA')]
  expect(lifted.outcome).toBe('lifted')
  await pauses.read()
  expect([idsOf('NA'), pauses.ageMs]).toEqual([[other], 0])
})

test('what has not changed is not read again', async () => {
  const { pauses } = aProcess()
  await pauses.read()
  const before = pauses.known
  await pauses.read()
  expect(pauses.known).toBe(before)
  await pause(null, 'NR')
  await pauses.read()
  expect(pauses.known).not.toBe(before)
})

test('pauses that a clock which was ahead took for ended hold when it is right again', async () => {
  const { pauses, idsOf } = aProcess()
  const id = await pause(null, 'NO', clock.now + 60_000)
  clock.now += 3_600_000
  await pauses.read()
  expect(idsOf('NO')).toEqual([])
  clock.now -= 3_600_000
  await pauses.read()
  expect(idsOf('NO')).toEqual([id])
})

test('a pause that ends meanwhile needs no read', async () => {
  const user = someone()
  await bench.quota({ user_id: user, limit: 100 })
  const { pauses } = aProcess()
  await pause(user, 'NP', clock.now + 60_000)
  await pauses.read()
  const engine = bench.engine({ pauses })
  const check = () => engine.submit(draw('check', user, '', 1, { country: 'NP' }))
  expect(await check()).toMatchObject({ outcome: 'denied', retry_at: clock.now + 60_000 })
  clock.now += 60_000
  expect(await check()).toMatchObject({ outcome: 'granted' })
})

test('of a server that lost the last change, the next one is seen all the same', async () => {
  const { pauses, idsOf } = aProcess()
  const lost = await pause(null, 'NE')
  await pauses.read()
  await db.query({ text: sql`delete from pause where shard = 0 and id = $1`, values: [lost] })
  await db.query({ text: sql`delete from pause_change where shard = 0 and pause_id = $1`, values: [lost] })
  await db.query({ text: sql`update pause_state set last_id = last_id - 1, state = state - 1 where shard = 0` })
  const other = await pause(null, 'NE')
  expect(other).toBe(lost)
  await pauses.read()
  expect(idsOf('NE')).toEqual([other])
})
