/**
 * What every route has in common: who is turned away, and what goes wrong, is answered the same way everywhere. The routes
 * come from the service's own OpenAPI document, so that none can be forgotten.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'
import { withDatabase } from '../support/cluster.ts'
import { type Answer, type Service, startService } from '../support/service.ts'

interface Route {
  operation: string
  method: string
  /** With a good path and query. */
  url: string
  body?: unknown
  /** `anyone`: whoever has a good token, of which the token itself tells enough. */
  role: 'anyone' | 'user' | 'admin' | 'sender'
}

const service = await startService()
const limited = await startService({ rateLimitPerMinute: 1 })

const PERIOD = 'from=2026-03-01T00:00:00Z&to=2026-03-15T00:00:00Z'
const draw = { user_id: 7, id: 'm', units: 1 }
const settlement = { user_id: 7, id: 'm' }
/** What an operation needs beside its path: a query, or a body. */
const GOOD: Record<string, { query?: string; body?: unknown }> = {
  reportMyUsage: { query: `${PERIOD}&interval=day` },
  summarizeQuotasOfUser: { query: 'user_id=7' },
  createQuota: { body: { user_id: 7, limit: 5 } },
  updateQuota: { body: { limit: 5 } },
  reportUsage: { query: `${PERIOD}&interval=day` },
  listTopUsers: { query: PERIOD },
  adjustQuota: { body: { delta: 5, reason: 'Goodwill' } },
  createWebhook: { body: { url: 'https://receiver.example/' } },
  updateWebhook: { body: { enabled: false } },
  redeliverWebhook: { body: { since: '2026-03-01T00:00:00Z' } },
  check: { body: { user_id: 7, units: 1 } },
  reserve: { body: draw },
  consume: { body: { ...draw, id: 'n' } },
  commit: { body: settlement },
  release: { body: settlement },
  refund: { body: settlement },
  batch: { body: { operations: [{ op: 'reserve', ...draw }] } },
}
const IN_PATHS: Record<string, string> = { id: '64', delivery: 'evt_1_1', user_id: '7' }

type Document = Record<string, Record<string, { operationId: string; security?: object[] }>>

function routesOf({ app }: Service): Route[] {
  const { paths } = app.swagger() as unknown as { paths: Document }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method, { operationId: operation }]) => {
        const { query, ...content } = GOOD[operation] ?? {}
        const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => IN_PATHS[name] ?? name)
        return {
          operation,
          method: method.toUpperCase(),
          url: query === undefined ? url : `${url}?${query}`,
          ...content,
          role: roleOf(path),
        }
      }),
  )
}

function roleOf(path: string): Route['role'] {
  const roles: Record<string, Route['role']> = { admin: 'admin', sender: 'sender', quota: 'user' }
  return roles[path.split('/')[3] ?? ''] ?? 'anyone'
}

const ROUTES = routesOf(service)
const WITH_ROLES = ROUTES.filter(({ role }) => role !== 'anyone')

/** A token of somebody who may call the route, and has not called before. */
let callers = 1_000
function tokenFor({ role }: Route, { token }: Service): Promise<string> {
  callers += 1
  return token({
    sub: String(callers),
    ...(role === 'user' || role === 'anyone' ? {} : { roles: [`sms-quota:${role}`] }),
  })
}

async function ask({ method, url, body }: Route, of: Service, token: string | null): Promise<Answer> {
  const headers = { 'x-request-id': 'every-route' }
  return of.call(method, url, { token, headers, ...(body === undefined ? {} : { body }) })
}

function expectProblem(route: Route, answer: Answer, code: ErrorCode): void {
  const { status, title } = ERRORS[code]
  // A batch is answered as a whole, and tells of each operation what went wrong with it.
  const isInside = route.operation === 'batch' && status >= 500
  const problem = isInside ? answer.body.results[0] : answer
  expect(problem.status, JSON.stringify(answer.body)).toBe(status)
  if (!isInside) expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  const said = { type: `/docs/errors#${code}`, title, status, code, request_id: 'every-route' }
  expect(problem.body).toEqual({ ...said, detail: expect.stringMatching(/^[A-Z].*\.$/) })
  expect(answer.headers).toMatchObject({ 'x-request-id': 'every-route', 'cache-control': 'no-store' })
  expect(JSON.stringify([answer.body, answer.headers])).not.toMatch(INTERNAL)
}

/** A place in the code, SQL, a name or an address of what lies behind the service. */
const INTERNAL =
  /\bat \S+:\d|\.ts\b|node_modules|\b(select|insert|update) |relation|elsewhere|sms_quota_test|127\.0\.0\.1/i

test('there are routes of every kind, and each has what it needs to be called', async () => {
  expect(new Set(ROUTES.map(({ role }) => role))).toEqual(new Set(['anyone', 'user', 'admin', 'sender']))
  expect(Object.keys(GOOD).filter(name => !ROUTES.some(({ operation }) => operation === name))).toEqual([])
  for (const route of ROUTES) {
    const answer = await ask(route, service, await tokenFor(route, service))
    // Not found and already closed are answers to a good call.
    expect([200, 201, 204, 404, 409], `${route.operation}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
  }
})

test.each(ROUTES)('$operation without a token is 401', async route => {
  const answer = await ask(route, service, null)
  expectProblem(route, answer, 'unauthenticated')
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
})

test.each(WITH_ROLES)('$operation with a token that lacks the role is 403', async route => {
  const { senderToken, userToken } = service
  const someone = await userToken(7)
  const others = { anyone: [], user: [senderToken], admin: [someone, senderToken], sender: [someone] }
  for (const token of others[route.role]) expectProblem(route, await ask(route, service, token), 'forbidden')
})

// Senders are bounded by the queue instead.
test.each(ROUTES.filter(({ role }) => role !== 'sender'))('$operation is 429 when called too often', async route => {
  const token = await tokenFor(route, limited)
  expect((await ask(route, limited, token)).status).toBeLessThan(429)
  const answer = await ask(route, limited, token)
  expectProblem(route, answer, 'rate_limited')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
})

/** Asks all at once, for some have patience with a database that goes away. */
async function askAll(of: Service): Promise<Map<string, Answer>> {
  const asked = WITH_ROLES.map(
    async route => [route.operation, await ask(route, of, await tokenFor(route, of))] as const,
  )
  return new Map(await Promise.all(asked))
}

describe('with the database away', async () => {
  const away = await startService()
  const name = new URL(away.databaseUrl).pathname.slice(1)
  const elsewhere = `${name}_elsewhere`
  let answers = new Map<string, Answer>()

  async function rename(from: string, to: string): Promise<void> {
    const admin = openDatabase({ url: withDatabase(inject('serverUrl'), 'postgres'), maxConnections: 1 })
    await admin.query({
      text: 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      values: [from],
    })
    await admin.query({ text: `alter database ${from} rename to ${to}` })
    await admin.close()
  }
  beforeAll(async () => {
    await rename(name, elsewhere)
    answers = await askAll(away)
  })
  afterAll(() => rename(elsewhere, name))

  test.each(WITH_ROLES)('$operation is 503, to be repeated', route => {
    const answer = answers.get(route.operation)
    if (answer === undefined) throw new Error('it was not asked')
    expectProblem(route, answer, 'unavailable')
    if (answer.status === 503) expect(answer.headers['retry-after']).toBe('1')
  })
})

describe('with something wrong that nobody foresaw', async () => {
  const broken = await startService()
  let answers = new Map<string, Answer>()
  beforeAll(async () => {
    const tables = await broken.db.query<{ name: string }>({
      text: `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    })
    for (const { name } of tables) await broken.db.query({ text: `alter table ${name} rename to ${name}_elsewhere` })
    answers = await askAll(broken)
  })

  test.each(WITH_ROLES)('$operation is 500 and says nothing of it', route => {
    const answer = answers.get(route.operation)
    if (answer === undefined) throw new Error('it was not asked')
    expectProblem(route, answer, 'internal')
  })
})
