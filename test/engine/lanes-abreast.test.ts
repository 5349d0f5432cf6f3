import { afterEach, describe, expect, test, vi } from 'vitest'
import { openLanes, turn } from './lanes-fixture.ts'

describe('batches abreast', () => {
  afterEach(() => vi.useRealTimers())

  test('are no more than are wanted, and the others gather meanwhile', async () => {
    const { send, started, end } = openLanes({ workers: 8, abreast: 2 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await turn()
    expect(started()).toEqual(['0:a', '1:a'])
    send(2, 'b')
    await end(0)
    expect(started()).toEqual(['2:ab'])
  })

  test('make room for another when one of them says that it is held up', async () => {
    const { send, started, end } = openLanes({ workers: 8, abreast: 2 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await turn()
    await end(0, run => run.slow())
    expect(started()).toEqual(['0:a', '1:a', '2:a'])
  })

  test('make room for another when one of them takes long without a word', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { send, started } = openLanes({ workers: 3, abreast: 1, heldUpMs: 100 })
    for (const lane of [0, 1, 2, 3]) send(lane, 'a')
    await turn()
    vi.advanceTimersByTime(99)
    await turn()
    expect(started()).toEqual(['0:a'])
    vi.advanceTimersByTime(1)
    await turn()
    expect(started()).toEqual(['1:a'])
    vi.advanceTimersByTime(200)
    await turn()
    expect(started()).toEqual(['2:a'])
  })

  test('that wait for a disk do not keep back a lane that was slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { send, started, end } = openLanes({ workers: 8, abreast: 2, heldUpMs: 2 })
    send(0, 'a')
    await turn()
    await end(0, run => {
      run.slow()
      run.answer()
    })
    for (const lane of [1, 2, 3, 4, 5, 6]) send(lane, 'a')
    for (let n = 0; n < 3; n++) {
      await turn()
      vi.advanceTimersByTime(2)
    }
    expect(started()).toEqual(['0:a', '1:a', '2:a', '3:a', '4:a', '5:a', '6:a'])
    send(0, 'b')
    await turn()
    expect(started()).toEqual(['0:b'])
  })
})

test('batches that hold many commands begin in turns of the event loop of their own', async () => {
  const { send, started } = openLanes()
  for (const lane of [0, 1, 2]) send(lane, Array(200).fill('x'))
  for (const lane of [3, 4]) send(lane, ['a'])
  await turn()
  expect(started().map(batch => batch.length)).toEqual([202, 202])
  await turn()
  expect(started().map(batch => batch.slice(0, 3))).toEqual(['2:x', '3:a', '4:a'])
})
