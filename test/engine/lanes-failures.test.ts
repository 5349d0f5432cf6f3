import { describe, expect, test } from 'vitest'
import { openLanes, Poison, turn } from './lanes-fixture.ts'

describe('a failure', () => {
  test('is told to the callers of its batch and to nobody else', async () => {
    const { send, end } = openLanes({ batchSize: 2 })
    const told = [send(0, 'abc'), send(1, 'd')]
    await turn()
    await end(0, run => run.fail(new Error('away')))
    await end(1)
    await end(2)
    expect(told).toEqual([['a: away', 'b: away', 'c!'], ['d!']])
  })

  test('may be thrown at once', async () => {
    const { send } = openLanes({
      run() {
        throw new Error('at once')
      },
    })
    const told = [send(0, 'ab'), send(1, 'c')]
    await turn()
    expect(told).toEqual([['a: at once', 'b: at once'], ['c: at once']])
  })

  test.each([
    ['too few', ['a!'], '1'],
    ['too many', ['a!', 'b!', 'c!'], '3'],
    ['no', undefined, 'no'],
  ])('is what %s results are, and is not run again', async (_, results, count) => {
    const { send, started } = openLanes({ run: async () => results as readonly string[], splits: () => true })
    const told = send(0, 'ab')
    await turn()
    expect(told).toEqual(['a', 'b'].map(command => `${command}: a batch of 2 commands got ${count} results`))
    expect(started()).toEqual([])
  })

  test('of the question whether to halve is told like any other', async () => {
    const splits = () => {
      throw new Error('cannot say')
    }
    const { send, end } = openLanes({ splits })
    const told = send(0, 'ab')
    await turn()
    await end(-1, run => run.fail(new Error('no')))
    expect(told).toEqual(['a: cannot say', 'b: cannot say'])
  })

  test('that one command causes is found by halving, in order, before the lane goes on', async () => {
    const { lanes, send, started, end } = openLanes()
    const told = send(0, 'abcde')
    await turn()
    send(0, 'f')
    const order = started()
    while (lanes.inFlight > 0) {
      await end(-1, run => (run.commands.includes('d') ? run.fail(new Poison()) : run.answer()))
      order.push(...started())
    }
    expect(order).toEqual(['0:abcde', '0:abc', '0:de', '0:d', '0:e', '0:f'])
    expect(told).toEqual(['a!', 'b!', 'c!', 'd: Poison', 'e!'])
  })
})
