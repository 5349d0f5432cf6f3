/** The order of one principal's commands for a user, on a real database, also when their batches fail. */
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/domain/units/command.ts'
import { createBench, expectVerified, reserve, settle, someone } from '../support/engine.ts'

const bench = await createBench()
const { db } = bench
const network = await bench.network()

test('commands that are not waited for take effect in the order of their calls: in several batches, beside conflicts, locks and a lost commit', async () => {
  const users = Array.from({ length: 20 }, () => someone())
  for (const user of users) await bench.quota({ user_id: user, limit: null })
  const engine = bench.engine({ through: network, batchSize: 16 })
  const rounds = 12
  const answers: Promise<Outcome>[] = []
  let disturbing = true
  /** Another process changes rows all the time, and holds some for a while. */
  const disturb = async () => {
    const stranger = await bench.stranger()
    for (let n = 0; disturbing; n++) {
      const user = users[n % users.length]
      await stranger.query('begin')
      await stranger.query('update quota set seq = seq + 1 where user_id = $1', [user])
      if (n % 5 === 0) await stranger.query('select pg_sleep(0.02)')
      await stranger.query('commit')
    }
  }
  const disturbed = disturb()
  const { lost } = network.loseNextConfirmation()
  for (let round = 0; round < rounds; round++) {
    for (const user of users) {
      // Each fails if an earlier one has not taken effect, or if a later one has.
      const id = `m${round}`
      answers.push(
        engine.submit(reserve(user, id, 10)),
        engine.submit(settle('commit', user, id, 3)),
        engine.submit(settle('commit', user, id, 7)),
        engine.submit(settle('refund', user, id, 2)),
        engine.submit(settle('release', user, id, 3)),
        engine.submit(settle('refund', user, id, 7)),
      )
    }
    await new Promise(setImmediate)
  }
  const settled = await Promise.all(answers)
  await lost
  disturbing = false
  await disturbed
  /** What each of the six leaves: committed, released, refunded. */
  const wanted = ['0 0 0', '3 0 0', '7 0 0', '7 0 2', '7 3 2', '7 3 7']
  const found = settled.map(answer => {
    if (answer.outcome !== 'granted' && answer.outcome !== 'settled') return answer.outcome
    const { committed, released, refunded } = answer.reservation
    return `${committed} ${released} ${refunded}`
  })
  // The repetition of a lost commit shows what the batch has left in the end, as any repetition does.
  const others = found.filter((state, index) => state !== wanted[index % wanted.length])
  expect(others.length).toBeLessThanOrEqual(16)
  expect(others.filter(state => !wanted.includes(state))).toEqual([])
  await expectVerified(db, ...users)
})
