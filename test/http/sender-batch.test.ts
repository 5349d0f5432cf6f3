import { expect, test, vi } from 'vitest'
import { startSender } from './sender-fixture.ts'

const { ask, allow, call, someone, counters, engine } = await startSender()

type Operation = { op: string } & Record<string, unknown>

async function batch(operations: unknown[]) {
  const { status, body } = await ask('batch', { operations })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.results).toHaveLength(operations.length)
  return body.results
}

/** A user with a grant of 10 and a cap of 8. Two such users get the same responses. */
async function userWithQuotas(): Promise<number> {
  const user = someone()
  await allow({ user_id: user, limit: 10 })
  await allow({ user_id: user, kind: 'cap', limit: 8 })
  return user
}

/** A response without the values that differ between users and calls. */
const comparable = (value: unknown, user: number) =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/"(request_id|quota_id|limiting_quota_id)":("[^"]*"|\d+)/g, '"$1":0')
      .replaceAll(/"user_id":\d+/g, '"user_id":0')
      .replaceAll(`User ${user} `, 'User 0 '),
  )

test('each operation is answered exactly like its single call, in order', async () => {
  const message = { to: '+4915112345678', text: 'x'.repeat(161) }
  const operations: Operation[] = [
    { op: 'check', units: 8, explain: true },
    { op: 'reserve', id: 'a', units: 3 },
    { op: 'reserve', id: 'a', units: 3 },
    { op: 'reserve', id: 'a', units: 4 },
    { op: 'reserve', id: 'b', units: 6 },
    { op: 'reserve', id: 'b', units: 6, allow_partial: true, explain: true },
    { op: 'commit', id: 'a', total_units: 2 },
    { op: 'commit', id: 'a', total_units: 2 },
    { op: 'commit', id: 'a', total_units: 9 },
    { op: 'release', id: 'a' },
    { op: 'refund', id: 'a' },
    { op: 'reserve', id: 'a', units: 3 },
    { op: 'commit', id: 'nowhere' },
    { op: 'consume', id: 'c', message },
    { op: 'consume', id: 'd', message, force: true },
    { op: 'check', message: { to: '+49', text: 5 }, country: 'DE' },
    { op: 'reserve', id: 'e', untis: 3, units: 0 },
    { op: 'release', id: 'b', total_units: 1, force: true },
    { op: 'feedback', id: 'a', verified: true },
    { op: 'feedback', id: 'a', verified: true },
    { op: 'feedback', id: 'a', verified: false },
    { op: 'commit', id: 'd', verified: true },
    { op: 'feedback', id: 'nowhere', verified: true },
  ]
  const [alone, together] = [await userWithQuotas(), await userWithQuotas()]
  const answers = []
  for (const { op, ...body } of operations) {
    const answer = await ask(op, { user_id: alone, ...body })
    answers.push({ status: answer.status, body: answer.body })
  }
  const results = await batch(operations.map(operation => ({ user_id: together, ...operation })))

  // The accepted fields inside a batch include `op`.
  const expected = JSON.parse(JSON.stringify(answers).replaceAll('accepted are user_id', 'accepted are op, user_id'))
  expect(comparable(results, together)).toEqual(comparable(expected, alone))
  const statuses = [
    200, 200, 200, 409, 200, 200, 200, 200, 422, 200, 200, 409, 404, 200, 200, 400, 400, 400, 200, 200, 400, 200, 404,
  ]
  expect(results.map(({ status }: { status: number }) => status)).toEqual(statuses)
})

test("one user's operations on one id take effect in order", async () => {
  const user = someone()
  const grant = await allow({ user_id: user, limit: 10 })
  const own = { user_id: user, id: 'm' }
  const results = await batch([
    { op: 'reserve', ...own, units: 4 },
    { op: 'commit', ...own, total_units: 3 },
    { op: 'release', ...own },
    { op: 'refund', ...own, total_units: 1 },
    { op: 'check', user_id: user, units: 1 },
  ])
  expect(results.map(({ body }: { body: { state?: string } }) => body.state)).toEqual([
    'reserved',
    'reserved',
    'committed',
    'committed',
    undefined,
  ])
  expect(results[4].body.remaining).toBe(8)
  expect(await counters(grant)).toEqual([2, 0])
})

test('an invalid operation fails alone, in its own result', async () => {
  const user = someone()
  await allow({ user_id: user, limit: 10 })
  const wrong: [unknown, string[]][] = [
    [7, ['']],
    [null, ['']],
    [[{ op: 'check' }], ['']],
    ['geheim', ['']],
    [{}, ['/op']],
    [{ op: 'batch', operations: [] }, ['/op']],
    [{ op: 'RESERVE', user_id: user }, ['/op']],
    [{ op: 'reserve', user_id: user, x: 1 }, ['/id', '/x', '/units']],
    [{ op: 'check', user_id: user, message: { to: 'geheim', text: 'geheim' } }, ['/message/to']],
  ]
  const results = await batch([...wrong.map(([operation]) => operation), { op: 'check', user_id: user, units: 1 }])
  expect(results.at(-1)).toMatchObject({ status: 200, body: { granted: true } })
  for (const [index, [operation, paths]] of wrong.entries()) {
    const { status, body } = results[index]
    expect([status, body.status, body.code], JSON.stringify(operation)).toEqual([400, 400, 'invalid_request'])
    expect(body.errors.map((issue: { path: string }) => issue.path).sort()).toEqual(paths.toSorted())
  }
  expect(JSON.stringify(results)).not.toContain('geheim')
})

test('a batch can hold a thousand operations of many users', async () => {
  const users = Array.from({ length: 20 }, someone)
  for (const user of users) await allow({ user_id: user, limit: 49 })
  const operations = Array.from({ length: 1000 }, (_, n) => ({
    op: 'reserve',
    user_id: users[n % users.length],
    id: `m${n}`,
    units: 1,
  }))
  const results = await batch(operations)
  const granted = results.filter(({ body }: { body: { granted: boolean } }) => body.granted)
  // The last of each user's fifty is denied.
  expect(granted).toHaveLength(20 * 49)
  expect(granted.every(({ body }: { body: { id: string } }, n: number) => body.id === `m${n}`)).toBe(true)
  const again = await batch(operations)
  expect(again.filter(({ body }: { body: { replayed?: boolean } }) => body.replayed)).toHaveLength(20 * 49)
  expect(engine.queue).toEqual({ commands: 0, bytes: 0 })
})

test('other calls are answered while the texts of a batch are counted', async () => {
  // Of a mark that is slow to count: it is younger than the library's Unicode. The longest batch has five times as many.
  const message = { to: '+4915112345678', text: '\u07fd'.repeat(450) }
  const operations = Array.from({ length: 200 }, () => ({ op: 'check', user_id: someone(), message }))
  const { enqueue } = engine
  let submitted = 0
  let other: Promise<[status: number, submitted: number]> | undefined
  vi.spyOn(engine, 'enqueue').mockImplementation((command, completion) => {
    enqueue(command, completion)
    submitted += 1
    // It does not wait for the database, which would take several ticks.
    if (submitted === 20) other = call('GET', '/livez', { token: null }).then(({ status }) => [status, submitted])
  })
  const results = await batch(operations)
  vi.restoreAllMocks()
  expect(results.every(({ body }: { body: { units: number } }) => body.units === 7)).toBe(true)
  expect(submitted).toBe(200)
  const [status, before] = (await other) ?? []
  expect(status).toBe(200)
  expect(before).toBeLessThan(200)
})

test.each([
  ['an empty list', { operations: [] }, 400],
  ['more than a thousand', { operations: Array.from({ length: 1001 }, () => ({ op: 'check' })) }, 400],
  ['operations that are not a list', { operations: { op: 'check' } }, 400],
  ['a missing list', {}, 400],
  ['unknown fields', { operations: [{ op: 'check' }], atomic: true }, 400],
  ['more than 1 MiB', { operations: [{ op: 'check', x: 'x'.repeat(2 ** 20) }] }, 413],
])('%s is refused as a whole', async (_what, body, status) => {
  const answer = await ask('batch', body)
  expect(answer.status).toBe(status)
  expect(answer.body.detail).toMatch(/^\/(operations|atomic) (must|is)|^The body is larger than 1048576 bytes/)
})

test('a body of almost 1 MiB is accepted', async () => {
  const text = 'x'.repeat(1000)
  const operations = Array.from({ length: 950 }, () => ({ op: 'check', user_id: 1, message: { to: '+4915112', text } }))
  const results = await batch(operations)
  expect(results[949]).toMatchObject({ status: 200, body: { granted: false, units: 7 } })
})

test('above the limit of concurrent large batches, whole batches are refused and admitted ones complete', async () => {
  const user = someone()
  const grant = await allow({ user_id: user, limit: 100 })
  const body = (id: string, size: number) =>
    JSON.stringify({ operations: [{ op: 'consume', user_id: user, id, units: 1 }] }).padEnd(size)
  // A large batch counts at most like a thousand typical operations.
  for (const size of [80 * 1024, 300 * 1024]) {
    const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => ask('batch', body(`${size}-${n}`, size))))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(6).fill(200), ...Array(10).fill(503)])
    for (const { status, headers, body } of answers) {
      if (status === 200) expect(body.results[0]).toMatchObject({ status: 200, body: { granted: true } })
      else expect([body.code, headers['retry-after']]).toEqual(['overloaded', '1'])
    }
  }
  expect(await counters(grant)).toEqual([12, 0])
})
