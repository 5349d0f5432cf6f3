import pg from 'pg'
import { expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { createPageSize, forEachApart, PartsFailed } from '../../src/jobs/isolation.ts'

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(code, 0, 'error'), { code })
}

test('an item that fails does not keep the others from their turn, and all failures are reported', async () => {
  const [poison, timeout, locked] = [new Error('poison'), databaseError('57014'), databaseError('55P03')]
  const failures = new Map<number, Error>([
    [1, poison],
    [3, timeout],
    [4, locked],
  ])
  const seen: number[] = []
  const done = forEachApart([0, 1, 2, 3, 4, 5], undefined, async item => {
    seen.push(item)
    const failure = failures.get(item)
    if (failure !== undefined) throw failure
  })
  await expect(done).rejects.toBeInstanceOf(PartsFailed)
  await expect(done).rejects.toMatchObject({ errors: [poison, timeout, locked] })
  expect(seen).toEqual([0, 1, 2, 3, 4, 5])
})

test('while the database is away, the first failure ends the step', async () => {
  const seen: number[] = []
  const lost = new ConnectionLost('lost', new Error('reset'))
  const done = forEachApart([0, 1, 2], undefined, async item => {
    seen.push(item)
    throw lost
  })
  await expect(done).rejects.toBe(lost)
  expect(seen).toEqual([0])
})

test('no item begins after the signal has aborted', async () => {
  const stopping = new AbortController()
  const seen: number[] = []
  await forEachApart([0, 1, 2], stopping.signal, async item => {
    seen.push(item)
    if (item === 1) stopping.abort()
  })
  expect(seen).toEqual([0, 1])
})

test('a page that took too long is halved, down to one row, and grows again with success', async () => {
  const page = createPageSize(8)
  const sizes: number[] = []
  const read = (failure?: Error) =>
    page
      .run(async rows => {
        sizes.push(rows)
        if (failure !== undefined) throw failure
      })
      .catch(() => {})
  for (let i = 0; i < 5; i++) await read(databaseError('57014'))
  // Another failure says nothing about the size.
  await read(new Error('poison'))
  for (let i = 0; i < 5; i++) await read()
  expect(sizes).toEqual([8, 4, 2, 1, 1, 1, 1, 2, 4, 8, 8])
})
