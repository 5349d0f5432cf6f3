/**
 * What all routes have in common: refusals and failures are answered in the same form. The routes come from the service's
 * own OpenAPI document, so that none is missing.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { databaseOfOnePostgres, databaseOfPlainRole, freshDatabase } from '../support/database.ts'
import { withDatabase } from '../support/database-url.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { expectProblem, PROBLEM_TYPE, REQUEST_ID } from '../support/problem.ts'
import { type Answer, type Service, startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

interface Route {
  operation: string
  method: string
  /** A valid path and query. */
  url: string
  body?: unknown
  /** Of the body, if it is not JSON. */
  type?: string
  /** The Idempotency-Key, if it needs one. */
  key?: string
  /** `anyone`: any valid token is enough. */
  role: 'anyone' | 'user' | 'admin' | 'sender'
}

// No call needs the rights of a superuser.
const service = await startService({ database: inject('nodes') === null ? databaseOfPlainRole() : freshDatabase() })
const limited = await startService({ rateLimitPerMinute: 1 })

const PERIOD = 'from=2026-03-01T00:00:00Z&to=2026-03-15T00:00:00Z'
const draw = { user_id: 7, id: 'm', units: 1 }
const settlement = { user_id: 7, id: 'm' }
/** What an operation needs besides its path: a query, or a body. */
const VALID: Record<string, { query?: string; body?: unknown; type?: string; key?: string }> = {
  reportMyUsage: { query: `${PERIOD}&interval=day` },
  search: { query: 'q=7' },
  listNames: { query: 'subject=7' },
  summarizeQuotasOfUser: { query: 'user_id=7' },
  createQuota: { body: { user_id: 7, limit: 5 } },
  importQuotas: { body: '{"user_id":7,"external_ref":"K-1","limit":5}\n', type: 'application/x-ndjson' },
  bulkChangeQuotas: { body: { select: { ids: [64] }, change: { action: 'suspend' } }, key: 'every-route' },
  giveUnits: { body: { users: [{ user_id: 7 }], units: 5, period: 'month', reason: 'Goodwill' }, key: 'every-route' },
  updateQuota: { body: { limit: 5 } },
  reportUsage: { query: `${PERIOD}&interval=day` },
  listTopUsers: { query: PERIOD },
  checkQuotasOfUser: { body: { user_id: 7, units: 1 } },
  transferUnits: { body: { to_user_id: 8, units: 1 }, key: 'every-route' },
  returnUnits: { body: {}, key: 'every-route' },
  adjustQuota: { body: { delta: 5, reason: 'Goodwill' } },
  givePlan: { body: { plan_id: 1 } },
  rollOutPlan: { body: { users: [7] }, key: 'every-route' },
  setNotifications: { body: { email: 'ann@example.com' } },
  makeIncreaseRequest: { body: { units: 5, reason: 'Sale' } },
  makeIncreaseRequestForUser: { body: { user_id: 7, units: 5, reason: 'Sale' } },
  approveIncreaseRequest: { body: {} },
  declineIncreaseRequest: { body: {} },
  createPause: { body: { user_id: 7, country: 'FR' } },
  createPlan: { body: { name: 'Basic', slots: [{ slot: 'monthly', limit: 5 }] } },
  updatePlan: { body: { name: 'Basic' } },
  createRateCard: { body: { name: 'Standard' } },
  updateRateCard: { body: { name: 'Standard' } },
  setRateLines: { body: { lines: [{ per_segment: 1 }] } },
  updateBreaker: { body: { mode: 'observe' } },
  createWebhook: { body: { url: 'https://receiver.example/' } },
  updateWebhook: { body: { enabled: false } },
  redeliverWebhook: { body: { since: '2026-03-01T00:00:00Z' } },
  updateProfile: { body: { name: 'Ann' } },
  check: { body: { user_id: 7, units: 1 } },
  reserve: { body: draw },
  consume: { body: { ...draw, id: 'n' } },
  commit: { body: settlement },
  release: { body: settlement },
  refund: { body: settlement },
  feedback: { body: { ...settlement, verified: true } },
  batch: { body: { operations: [{ op: 'reserve', ...draw }] } },
}
const IN_PATHS: Record<string, string> = { id: '64', delivery: 'evt_1_1', user_id: '7', denial_id: 'den_7_1_1' }

function routesOf({ app }: Service): Route[] {
  return readDocument(app.swagger())
    .operations.filter(({ roles }) => roles !== 'open')
    .map(({ id: operation, method, template }) => {
      const { query, ...content } = VALID[operation] ?? {}
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => IN_PATHS[name] ?? name)
      const url = query === undefined ? path : `${path}?${query}`
      return { operation, method, url, ...content, role: roleOf(template) }
    })
}

function roleOf(path: string): Route['role'] {
  const roles: Record<string, Route['role']> = { admin: 'admin', sender: 'sender', quota: 'user' }
  return roles[path.split('/')[3] ?? ''] ?? 'anyone'
}

const ROUTES = routesOf(service)
const WITH_ROLES = ROUTES.filter(({ role }) => role !== 'anyone')

/** A token that is allowed to call the route and was not used before. */
let lastSubject = 1_000
function tokenFor({ role }: Route, { token }: Service): Promise<string> {
  lastSubject += 1
  return token({
    sub: String(lastSubject),
    ...(role === 'user' || role === 'anyone' ? {} : { roles: [`sms-quota:${role}`] }),
  })
}

async function ask({ method, url, body, type, key }: Route, of: Service, token: string | null): Promise<Answer> {
  const headers = {
    'x-request-id': REQUEST_ID,
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  }
  return of.call(method, url, { token, headers, ...(body === undefined ? {} : { body }) })
}

/** A batch itself succeeds; its results hold the problem of each operation. */
function problemIn({ operation }: Route, answer: Answer): Answer {
  if (operation !== 'batch') return answer
  const [{ status, body }] = answer.body.results
  return { status, body, headers: { ...answer.headers, 'content-type': PROBLEM_TYPE } }
}

test('there are routes for every role, and a valid call of each succeeds', async () => {
  expect(new Set(ROUTES.map(({ role }) => role))).toEqual(new Set(['anyone', 'user', 'admin', 'sender']))
  expect(Object.keys(VALID).filter(name => !ROUTES.some(({ operation }) => operation === name))).toEqual([])
  for (const route of ROUTES) {
    const answer = await ask(route, service, await tokenFor(route, service))
    // Valid calls may be answered with not_found, reservation_closed or no_grant.
    expect([200, 201, 202, 204, 404, 409, 422], `${route.operation}: ${JSON.stringify(answer.body)}`).toContain(
      answer.status,
    )
  }
})

// Senders are limited by the queue instead.
test.each(ROUTES.filter(({ role }) => role !== 'sender'))('$operation is 429 above the rate limit', async route => {
  const token = await tokenFor(route, limited)
  expect((await ask(route, limited, token)).status).toBeLessThan(429)
  const answer = await ask(route, limited, token)
  expectProblem(answer, 'rate_limited')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
})

/** A process runs half as many exports at a time, and all are called at once. */
const env = { DATABASE_POOL_SIZE: '20' }

/** Calls all routes concurrently, because some wait for a database that is not available. */
async function askAll(of: Service): Promise<Map<string, Answer>> {
  const asked = WITH_ROLES.map(
    async route => [route.operation, await ask(route, of, await tokenFor(route, of))] as const,
  )
  return new Map(await Promise.all(asked))
}

describe('while the database is not available', async () => {
  const disconnected = await startService({ env, giveUpMs: 100 })
  const name = new URL(disconnected.databaseUrl).pathname.slice(1)
  const elsewhere = `${name}_elsewhere`
  let answers = new Map<string, Answer>()

  async function rename(from: string, to: string): Promise<void> {
    const admin = openDatabase({ url: withDatabase(inject('serverUrl'), 'postgres'), maxConnections: 1 })
    await admin.query({
      text: sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`,
      values: [from],
    })
    await admin.query({ text: rawSql`alter database ${from} rename to ${to}` })
    await admin.close()
  }
  beforeAll(async () => {
    await rename(name, elsewhere)
    answers = await askAll(disconnected)
  })
  afterAll(() => rename(elsewhere, name))

  test.each(WITH_ROLES)('$operation is 503 with Retry-After', route => {
    const answer = answers.get(route.operation)
    if (answer === undefined) throw new Error(`${route.operation} was not called`)
    expectProblem(problemIn(route, answer), 'unavailable')
    if (answer.status === 503) expect(answer.headers['retry-after']).toBe('1')
  })
})

describe('after an unexpected failure', async () => {
  // A cluster finds its shards by a table's name.
  const broken = await startService({ env, database: databaseOfOnePostgres(), connectTimeout: 60_000 })
  let answers = new Map<string, Answer>()
  beforeAll(async () => {
    const tables = await broken.db.query<{ name: string }>({
      text: sql`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    })
    for (const { name } of tables)
      await broken.db.query({ text: rawSql`alter table ${name} rename to ${name}_elsewhere` })
    answers = await askAll(broken)
  })

  test.each(WITH_ROLES)('$operation is 500 and reveals nothing', route => {
    const answer = answers.get(route.operation)
    if (answer === undefined) throw new Error(`${route.operation} was not called`)
    expectProblem(problemIn(route, answer), 'internal')
  })
})
