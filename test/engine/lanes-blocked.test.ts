import { describe, expect, test } from 'vitest'
import { openLanes, Poison, tick } from './lanes-fixture.ts'

describe('blocked lanes', () => {
  /** Lanes 0 to 3 each report in flight that they are blocked and then end, so their next batches start as blocked. */
  async function withBlockedLanes(workers: number) {
    const opened = openLanes({ workers, lanes: 12, batchSize: 1 })
    for (const lane of [0, 1, 2, 3]) {
      opened.send(lane, 'a')
      await tick()
      await opened.end(-1, run => {
        run.reportBlocked()
        run.answer()
      })
    }
    opened.started()
    return opened
  }

  test('have at most half of the workers, and the other lanes are served', async () => {
    const { lanes, send, started, end } = await withBlockedLanes(4)
    for (const lane of [0, 1, 2, 3, 4]) send(lane, 'b')
    for (const lane of [5, 6]) send(lane, 'c')
    await tick()
    expect([started(), lanes.inFlight]).toEqual([['0:b', '1:b', '4:b', '5:c'], 4])
    for (const running of [-1, -1, -3]) await end(running)
    expect([started(), lanes.inFlight]).toEqual([['6:c'], 2])
    for (const lane of [7, 8, 9]) send(lane, 'd')
    await tick()
    expect(started()).toEqual(['7:d', '8:d'])
  })

  test('are served in their order as soon as one worker of that half is free', async () => {
    const { send, started, end } = await withBlockedLanes(4)
    for (const lane of [0, 1, 2, 3, 4]) send(lane, 'b')
    await tick()
    expect(started()).toEqual(['0:b', '1:b', '4:b'])
    await end(-3)
    expect(started()).toEqual(['2:b'])
    await end(-1)
    expect(started()).toEqual(['3:b'])
  })

  test('have one worker even if half of the workers is none', async () => {
    const { send, started, end } = await withBlockedLanes(1)
    send(0, 'b')
    send(1, 'b')
    await tick()
    expect(started()).toEqual(['0:b'])
    await end(-1)
    expect(started()).toEqual(['1:b'])
  })

  test('start as running again after a batch that did not report it', async () => {
    const { send, started, end } = await withBlockedLanes(2)
    for (const lane of [0, 1, 2]) {
      send(lane, 'b')
      await tick()
      await end(-1)
    }
    started()
    for (const lane of [0, 1]) send(lane, 'c')
    await tick()
    expect(started()).toEqual(['0:c', '1:c'])
  })

  test('count from their report until the batch ends, once', async () => {
    const { runs, send, started, end } = await withBlockedLanes(4)
    send(4, 'b')
    send(5, 'b')
    await tick()
    // Two of two are blocked now: lane 0 has to wait, lane 6 has not.
    for (const run of runs.slice(-2)) {
      run.reportBlocked()
      run.reportBlocked()
    }
    send(0, 'b')
    send(6, 'b')
    await tick()
    expect(started()).toEqual(['4:b', '5:b', '6:b'])
    await end(-3)
    expect(started()).toEqual(['0:b'])
  })

  test('are not those that report after the batch has ended', async () => {
    const { runs, send, started, end } = await withBlockedLanes(2)
    send(4, 'b')
    await tick()
    await end(-1)
    runs.at(-1)?.reportBlocked()
    send(0, 'c')
    send(4, 'c')
    await tick()
    expect(started()).toEqual(['4:b', '0:c', '4:c'])
  })

  test('include those whose batch is being halved', async () => {
    const { send, started, end } = openLanes({ workers: 2 })
    send(0, 'ab')
    await tick()
    await end(-1, run => run.fail(new Poison()))
    await end(-1)
    await end(-1)
    send(1, 'cd')
    await tick()
    await end(-1, run => run.fail(new Poison()))
    started()
    send(0, 'e')
    send(2, 'f')
    await tick()
    expect(started()).toEqual(['2:f'])
  })
})
