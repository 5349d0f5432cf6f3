import { afterEach, describe, expect, test, vi } from 'vitest'
import { openLanes, tick } from './lanes-fixture.ts'

describe('the concurrency of batches', () => {
  afterEach(() => vi.useRealTimers())

  test('bounds the running ones, and the other lanes gather meanwhile', async () => {
    const { send, started, end } = openLanes({ workers: 8, concurrency: 2 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await tick()
    expect(started()).toEqual(['0:a', '1:a'])
    send(2, 'b')
    await end(0)
    expect(started()).toEqual(['2:ab'])
  })

  test('leaves room for another one when one reports that it is blocked', async () => {
    const { send, started, end } = openLanes({ workers: 8, concurrency: 2 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await tick()
    await end(0, run => run.reportBlocked())
    expect(started()).toEqual(['0:a', '1:a', '2:a'])
  })

  test('leaves room for another one when one takes longer than stallMs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { send, started } = openLanes({ workers: 3, concurrency: 1, stallMs: 100 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await tick()
    vi.advanceTimersByTime(99)
    await tick()
    expect(started()).toEqual(['0:a'])
    vi.advanceTimersByTime(1)
    await tick()
    expect(started()).toEqual(['1:a'])
    vi.advanceTimersByTime(200)
    await tick()
    expect(started()).toEqual(['2:a'])
  })

  test('lets a lane that was blocked start while others are stalled', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { send, started, end } = openLanes({ workers: 8, concurrency: 2, stallMs: 2 })
    send(0, 'a')
    await tick()
    await end(0, run => {
      run.reportBlocked()
      run.answer()
    })
    for (const lane of [1, 2, 3, 4, 5, 6]) send(lane, 'a')
    for (let n = 0; n < 3; n++) {
      await tick()
      vi.advanceTimersByTime(2)
    }
    expect(started()).toEqual(['0:a', '1:a', '2:a', '3:a', '4:a', '5:a', '6:a'])
    send(0, 'b')
    await tick()
    expect(started()).toEqual(['0:b'])
  })
})

test('batches with many commands start in separate ticks of the event loop', async () => {
  const { send, started } = openLanes()
  for (const lane of [0, 1, 2]) send(lane, Array(200).fill('x'))
  for (const lane of [3, 4]) send(lane, ['a'])
  await tick()
  expect(started().map(batch => batch.length)).toEqual([202, 202])
  await tick()
  expect(started().map(batch => batch.slice(0, 3))).toEqual(['2:x', '3:a', '4:a'])
})
