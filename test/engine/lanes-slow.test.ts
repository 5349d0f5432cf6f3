import { describe, expect, test } from 'vitest'
import { openLanes, Poison, turn } from './lanes-fixture.ts'

describe('slow lanes', () => {
  /** Lanes 0…3 say in flight that they are slow and then end, so that their next batches are those of slow lanes. */
  async function withSlowLanes(workers: number) {
    const opened = openLanes({ workers, lanes: 12, batchSize: 1 })
    for (const lane of [0, 1, 2, 3]) {
      opened.send(lane, 'a')
      await turn()
      await opened.end(-1, run => {
        run.slow()
        run.answer()
      })
    }
    opened.started()
    return opened
  }

  test('have half of the workers at most, and the others go on', async () => {
    const { lanes, send, started, end } = await withSlowLanes(4)
    for (const lane of [0, 1, 2, 3, 4]) send(lane, 'b')
    for (const lane of [5, 6]) send(lane, 'c')
    await turn()
    expect([started(), lanes.inFlight]).toEqual([['0:b', '1:b', '4:b', '5:c'], 4])
    for (const fast of [-1, -1, -3]) await end(fast)
    expect([started(), lanes.inFlight]).toEqual([['6:c'], 2])
    for (const lane of [7, 8, 9]) send(lane, 'd')
    await turn()
    expect(started()).toEqual(['7:d', '8:d'])
  })

  test('are served in their turn as soon as one of that half is free', async () => {
    const { send, started, end } = await withSlowLanes(4)
    for (const lane of [0, 1, 2, 3, 4]) send(lane, 'b')
    await turn()
    expect(started()).toEqual(['0:b', '1:b', '4:b'])
    await end(-3)
    expect(started()).toEqual(['2:b'])
    await end(-1)
    expect(started()).toEqual(['3:b'])
  })

  test('have one worker even where half would be none', async () => {
    const { send, started, end } = await withSlowLanes(1)
    send(0, 'b')
    send(1, 'b')
    await turn()
    expect(started()).toEqual(['0:b'])
    await end(-1)
    expect(started()).toEqual(['1:b'])
  })

  test('are fast again after a batch that was not slow', async () => {
    const { send, started, end } = await withSlowLanes(2)
    for (const lane of [0, 1, 2]) {
      send(lane, 'b')
      await turn()
      await end(-1)
    }
    started()
    for (const lane of [0, 1]) send(lane, 'c')
    await turn()
    expect(started()).toEqual(['0:c', '1:c'])
  })

  test('count from when they say so, once, and not when it is over', async () => {
    const { runs, send, started, end } = await withSlowLanes(4)
    send(4, 'b')
    send(5, 'b')
    await turn()
    // Two of two are slow now: lane 0 has to wait, and a third that is not slow has not.
    for (const run of runs.slice(-2)) {
      run.slow()
      run.slow()
    }
    send(0, 'b')
    send(6, 'b')
    await turn()
    expect(started()).toEqual(['4:b', '5:b', '6:b'])
    await end(-3)
    expect(started()).toEqual(['0:b'])
  })

  test('do not come of what is said when the batch is over', async () => {
    const { runs, send, started, end } = await withSlowLanes(2)
    send(4, 'b')
    await turn()
    await end(-1)
    runs.at(-1)?.slow()
    send(0, 'c')
    send(4, 'c')
    await turn()
    expect(started()).toEqual(['4:b', '0:c', '4:c'])
  })

  test('are those as well whose batch is being halved', async () => {
    const { send, started, end } = openLanes({ workers: 2 })
    send(0, 'ab')
    await turn()
    await end(-1, run => run.fail(new Poison()))
    await end(-1)
    await end(-1)
    send(1, 'cd')
    await turn()
    await end(-1, run => run.fail(new Poison()))
    started()
    send(0, 'e')
    send(2, 'f')
    await turn()
    expect(started()).toEqual(['2:f'])
  })
})
