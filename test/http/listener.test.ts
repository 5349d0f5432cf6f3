import { setImmediate } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { addressOf, createListener } from '../../src/http/listener.ts'
import { createReadiness } from '../../src/http/platform/readiness.ts'
import { startService } from '../support/service.ts'
import { createTimers } from '../support/timers.ts'

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const { app } = await startService()
const url = await app.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => app.close())

test('the port answers health with the headers and the body of the API', async () => {
  for (const path of ['/livez', '/readyz']) {
    const [direct, routed] = [await fetch(url + path), await app.inject(path)]
    expect(direct.status).toBe(routed.statusCode)
    expect(await direct.json()).toEqual(routed.json())
    // Without TLS, no browser may be asked to use it.
    expect(direct.headers.get('strict-transport-security')).toBe(null)
    const names = ['content-type', 'cache-control', 'x-content-type-options', 'content-security-policy']
    for (const name of names) expect(direct.headers.get(name), name).toBe(routed.headers[name])
    expect(direct.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const named = await fetch(url + path, { headers: { 'x-request-id': 'probe-1' } })
    expect(named.headers.get('x-request-id')).toBe('probe-1')
  }
})

test('HEAD has no body, and other methods are 405', async () => {
  const head = await fetch(`${url}/readyz`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const post = await fetch(`${url}/readyz`, { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('calls of /readyz cost no check', async () => {
  const listener = createListener()
  await listener.listen('127.0.0.1', 0)
  onTestFinished(() => listener.close())
  const check = vi.fn(async () => null)
  await listener.readiness.watch(check, log)
  onTestFinished(() => listener.readiness.stop())
  const ready = () => fetch(`${addressOf(listener).url}/readyz`)
  const answers = await Promise.all(Array.from({ length: 100 }, ready))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(check.mock.calls.length).toBeLessThanOrEqual(3)
})

test('a check without an answer fails after two seconds, and none overlaps another', async () => {
  const timers = createTimers()
  /** Also what waits for a promise that a timer has resolved. */
  const pass = async (ms: number) => {
    timers.pass(ms)
    await setImmediate()
  }
  const readiness = createReadiness(timers.later)
  expect(readiness.reason).toBe('the service is starting')
  const answers: PromiseWithResolvers<string | null>[] = []
  const check = () => {
    const answer = Promise.withResolvers<string | null>()
    answers.push(answer)
    return answer.promise
  }
  const first = readiness.watch(check, log)
  answers[0]?.resolve(null)
  await first
  expect(readiness.reason).toBe(null)

  await pass(1_000)
  expect(answers).toHaveLength(2)
  await pass(1_999)
  expect(readiness.reason).toBe(null)
  await pass(10_000)
  expect(readiness.reason).toBe('the database does not answer')
  expect(answers).toHaveLength(2)

  answers[1]?.resolve(null)
  await pass(0)
  expect(readiness.reason).toBe(null)
  await pass(1_000)
  answers[2]?.reject(new Error('the connection was lost'))
  await pass(0)
  expect(readiness.reason).toBe('the database does not answer')

  readiness.refuse('the service is stopping')
  await pass(1_000)
  answers[3]?.resolve(null)
  await readiness.stop()
  expect(readiness.reason).toBe('the service is stopping')
  await pass(60_000)
  expect(answers).toHaveLength(4)
})
