import { describe, expect, test } from 'vitest'
import { openLanes, Poison, tick } from './lanes-fixture.ts'

describe('a failure', () => {
  test('rejects the commands of its batch and no others', async () => {
    const { send, end } = openLanes({ batchSize: 2 })
    const answers = [send(0, 'abc'), send(1, 'd')]
    await tick()
    await end(0, run => run.fail(new Error('away')))
    await end(1)
    await end(2)
    expect(answers).toEqual([['a: away', 'b: away', 'c!'], ['d!']])
  })

  test('may be thrown synchronously', async () => {
    const { send } = openLanes({
      run() {
        throw new Error('at once')
      },
    })
    const answers = [send(0, 'ab'), send(1, 'c')]
    await tick()
    expect(answers).toEqual([['a: at once', 'b: at once'], ['c: at once']])
  })

  test.each([
    ['too few', ['a!'], '1'],
    ['too many', ['a!', 'b!', 'c!'], '3'],
    ['no', undefined, 'no'],
  ])('comes of %s results, and the batch is not run again', async (_, results, count) => {
    const { send, started } = openLanes({ run: async () => results as readonly string[], splits: () => true })
    const answers = send(0, 'ab')
    await tick()
    expect(answers).toEqual(['a', 'b'].map(command => `${command}: a batch of 2 commands got ${count} results`))
    expect(started()).toEqual([])
  })

  test('of the question whether to halve rejects the commands like any other', async () => {
    const splits = () => {
      throw new Error('cannot say')
    }
    const { send, end } = openLanes({ splits })
    const answers = send(0, 'ab')
    await tick()
    await end(-1, run => run.fail(new Error('no')))
    expect(answers).toEqual(['a: cannot say', 'b: cannot say'])
  })

  test('that one command causes is isolated by halving, in order, before the next batch of the lane', async () => {
    const { lanes, send, started, end } = openLanes()
    const answers = send(0, 'abcde')
    await tick()
    send(0, 'f')
    const order = started()
    while (lanes.inFlight > 0) {
      await end(-1, run => (run.commands.includes('d') ? run.fail(new Poison()) : run.answer()))
      order.push(...started())
    }
    expect(order).toEqual(['0:abcde', '0:abc', '0:de', '0:d', '0:e', '0:f'])
    expect(answers).toEqual(['a!', 'b!', 'c!', 'd: Poison', 'e!'])
  })
})
