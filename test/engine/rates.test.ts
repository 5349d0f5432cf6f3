/** Rate cards, as processes know them: who has which, and since when. */
import { expect, test } from 'vitest'
import {
  createRateCardOnce,
  type PriceTerms,
  setLinesOnce,
  updateRateCardOnce,
} from '../../src/admin/rates/rate-cards.ts'
import { updateProfile } from '../../src/admin/users/change-profile.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { createRates } from '../../src/engine/rates.ts'
import { line } from '../domain/rate-book.ts'
import { createBench, draw, expectVerified, settle, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const anyVersion = () => true

async function makeCard(per_segment: number, is_default = false): Promise<number> {
  const draft = { name: 'Standard', is_default, lines: [line({ per_segment })] }
  const made = await createRateCardOnce(db, draft, bench.author(), undefined)
  if (made.outcome !== 'created') throw new Error(`not made: ${made.outcome}`)
  return made.card.id
}

const setPrice = (id: number, per_segment: number, validFrom?: number) => {
  const terms: PriceTerms = { lines: [line({ per_segment })], validFrom }
  return setLinesOnce(db, id, terms, bench.author(), anyVersion, undefined)
}

/** One process, which reads rules only when tests say so. */
function aProcess() {
  const rates = createRates(db)
  const pauses = createPauses({ db, now: () => clock.now, rates })
  const engine = bench.engine({ pauses, rates })
  const ask = (op: 'check' | 'reserve' | 'consume', user: number, id: string, segments = 1) =>
    engine.submit(draw(op, user, id, segments, { segments, recipient: '+4915112345678' }))
  return { engine, ask, follow: () => pauses.read(), rates }
}

const unitsOf = (outcome: object) =>
  'reservation' in outcome ? (outcome.reservation as { units: number }).units : outcome

test('a process prices by what it has read, and a repetition in another one is no other message', async () => {
  const id = await makeCard(10, true)
  const user = someone()
  await bench.quota({ user_id: user, limit: 1_000 })
  const [one, other] = [aProcess(), aProcess()]
  expect(unitsOf(await one.ask('reserve', user, 'before'))).toBe(1)
  await one.follow()
  expect(unitsOf(await one.ask('reserve', user, 'a', 2))).toBe(20)
  await setPrice(id, 30)
  await other.follow()
  expect(await other.ask('reserve', user, 'a', 2)).toMatchObject({ replayed: true, reservation: { units: 20 } })
  expect(await other.ask('reserve', user, 'before')).toMatchObject({ replayed: true, reservation: { units: 1 } })
  expect(unitsOf(await other.ask('reserve', user, 'b', 2))).toBe(60)
  expect(await one.ask('reserve', user, 'b', 2)).toMatchObject({ replayed: true, reservation: { units: 60 } })
  expect(await one.ask('reserve', user, 'b', 1)).toMatchObject({ outcome: 'idempotency_mismatch', fields: ['units'] })
  await updateRateCardOnce(db, id, { is_default: false }, bench.author(), anyVersion, undefined)
})

test('a list that is to come is known before, and holds at its instant in a process that reads nothing then', async () => {
  const id = await makeCard(10, true)
  const user = someone()
  await bench.quota({ user_id: user, limit: 1_000 })
  await setPrice(id, 20, clock.now + 5_000)
  const { ask, follow } = aProcess()
  await follow()
  clock.now += 4_999
  expect(unitsOf(await ask('check', user, ''))).toBe(10)
  clock.now += 1
  expect(unitsOf(await ask('check', user, ''))).toBe(20)
  await updateRateCardOnce(db, id, { is_default: false }, bench.author(), anyVersion, undefined)
})

test('a card that a user gets holds for each call after that, also where the user is remembered', async () => {
  const [standard, negotiated, better] = [await makeCard(10, true), await makeCard(7), await makeCard(5)]
  const [user, other] = [someone(), someone()]
  await bench.quota({ user_id: user, limit: 1_000 })
  await bench.quota({ user_id: other, limit: 1_000 })
  const give = (userId: number, rate_card_id: number | null) =>
    updateProfile(db, userId, { rate_card_id }, bench.author(), anyVersion)
  await give(other, negotiated)
  const { ask, follow } = aProcess()
  await follow()
  const askBoth = async (id: string) => [
    unitsOf(await ask('consume', user, id)),
    unitsOf(await ask('consume', other, id)),
  ]
  expect(await askBoth('a')).toEqual([10, 7])
  // The process knows all cards, and is not asked to read again.
  expect((await give(user, better)).outcome).toBe('changed')
  expect((await give(other, null)).outcome).toBe('changed')
  expect(await askBoth('b')).toEqual([5, 10])
  await updateRateCardOnce(db, standard, { is_default: false }, bench.author(), anyVersion, undefined)
})

test('a forced commit of more than was reserved is stored, also of a message of the same batch', async () => {
  const id = await makeCard(10, true)
  const user = someone()
  await bench.quota({ user_id: user, limit: 60 })
  const { engine, ask, follow } = aProcess()
  await follow()
  const forced = (name: string) =>
    ({ ...settle('commit', user, name), total_units: null, total_segments: 4, force: true }) as const
  await ask('reserve', user, 'a', 2)
  expect(await engine.submit(forced('a'))).toMatchObject({
    outcome: 'settled',
    reservation: { units: 40, committed: 40 },
  })
  const [, together] = await Promise.all([ask('reserve', user, 'b'), engine.submit(forced('b'))])
  expect(together).toMatchObject({ outcome: 'settled', reservation: { units: 40, draws: [{ from: 0, to: 40 }] } })
  expect(await engine.submit(forced('a'))).toMatchObject({ replayed: true })
  expect(await aProcess().engine.submit(forced('a'))).toMatchObject({
    replayed: true,
    reservation: { units: 40, price: { per_segment: 10 } },
  })
  await expectVerified(db, user)
  await updateRateCardOnce(db, id, { is_default: false }, bench.author(), anyVersion, undefined)
})
