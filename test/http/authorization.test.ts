/**
 * The authorization matrix: every route, called by every kind of caller, for the caller's own data and for another user's.
 * What is expected comes from the table of docs/reference/roles.md, and the routes from the server itself, so a route without a
 * row there fails.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { setUserAddress } from '../../src/admin/users/user-address.ts'
import { expectProblem, REQUEST_ID } from '../support/problem.ts'
import { noteIn, watchRoutes } from '../support/routes.ts'
import { type Answer, START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

/** A column of the table of docs/reference/roles.md. */
type Column = string

/** What the document says: the cells of each call, `METHOD /path`, by column. `–` is refused, and each other cell allowed. */
function documentedCalls(): Map<string, Map<Column, string>> {
  const page = readFileSync(new URL('../../docs/reference/roles.md', import.meta.url), 'utf8')
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  const [head = '', , ...rows] = page.split('\n').filter(line => line.startsWith('|'))
  const [, ...columns] = cellsOf(head)
  return new Map(
    rows.map(row => {
      const [call = '', ...cells] = cellsOf(row)
      const route = call.replaceAll('`', '').replaceAll(/\{(\w+)\}/g, ':$1')
      return [route, new Map(columns.map((column, index) => [column, cells[index] ?? '']))]
    }),
  )
}
const documented = documentedCalls()

const ROLE_COLUMNS = ['admin', 'sender', 'auditor', 'support']

interface Caller {
  name: string
  /** Null: no token. */
  claims: { sub: string; roles?: string[]; exp?: number; nbf?: number } | null
  /** Where the document says what the caller may do. */
  columns: Column[]
}

const BOSS = { sub: 'boss', roles: ['sms-quota:admin'] }

const CALLERS: Caller[] = [
  { name: 'no token', claims: null, columns: ['no token'] },
  { name: 'an expired token', claims: { ...BOSS, exp: START / 1_000 - 60 }, columns: ['no token'] },
  { name: 'a token of tomorrow', claims: { ...BOSS, nbf: START / 1_000 + 86_400 }, columns: ['no token'] },
  { name: 'a user', claims: { sub: '7' }, columns: ['user'] },
  { name: 'a user with unknown roles', claims: { sub: '7', roles: ['admin', 'sender'] }, columns: ['user'] },
  { name: 'a machine without a role', claims: { sub: 'machine' }, columns: ['any token'] },
  { name: 'a sender', claims: { sub: 'gateway', roles: ['sms-quota:sender'] }, columns: ['sender'] },
  {
    name: 'a sender that is a user',
    claims: { sub: '7', roles: ['sms-quota:sender'] },
    columns: ['user', 'sender'],
  },
  {
    name: 'the right to force alone',
    claims: { sub: 'gateway', roles: ['sms-quota:force'] },
    columns: ['any token'],
  },
  { name: 'an auditor', claims: { sub: 'ann', roles: ['sms-quota:auditor'] }, columns: ['auditor'] },
  { name: 'support', claims: { sub: 'sue', roles: ['sms-quota:support'] }, columns: ['support'] },
  { name: 'an administrator', claims: BOSS, columns: ['admin'] },
  {
    name: 'an administrator that is a user',
    claims: { sub: '7', roles: ['sms-quota:admin'] },
    columns: ['user', 'admin'],
  },
]

/** The routes of the server as `METHOD /path`, in the order of their registration. */
const registered: string[] = []
const service = await watchRoutes(noteIn(registered), startSender)

const { app, allow, ask } = service
/** What a user must not read of a quota of their own. */
const OPERATORS_OWN = { margin: 'operators-own' }
const quotaIds = new Map<number, number>()
for (const user of [7, 8]) {
  const quota = { user_id: user, limit: 5, name: `of-user-${user}`, external_ref: 'R-1', metadata: OPERATORS_OWN }
  quotaIds.set(user, await allow(quota))
  await ask('reserve', { user_id: user, id: `of-user-${user}`, units: 1 })
  await ask('reserve', { user_id: user, id: `denied-of-user-${user}`, units: 9 })
  const body = { units: 9, reason: `of-user-${user}` }
  await service.call('POST', '/api/sms/quota/requests', { token: await service.userToken(user), body })
  const address = { user_id: user, address: `of-user-${user}@mail.example`, language: 'en', serial: user } as const
  await setUserAddress(service.db, address, [], { now: START, actor: 'ann', requestId: 'setup' })
}
const { body: denials } = await service.call('GET', '/api/sms/admin/denials')
const denialIds = new Map<number, string>(
  denials.items.map(({ user_id, denial_id }: { user_id: number; denial_id: string }) => [user_id, denial_id]),
)

/** A route's path with the ids of a user's data. */
function pathFor(url: string, user: number): string {
  const values: Record<string, string> = {
    user_id: String(user),
    id: url.includes('/reservations/') ? `of-user-${user}` : String(quotaIds.get(user)),
    denial_id: denialIds.get(user) ?? 'none',
    delivery: 'evt_1_1',
  }
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? name)
  if (url.endsWith('/usage')) {
    const [from, to] = [START - 3_600_000, START + 3_600_000].map(time => new Date(time).toISOString())
    return `${path}?from=${from}&to=${to}&interval=hour`
  }
  return path
}

const tokens = new Map<string, string>()
for (const { name, claims } of CALLERS) if (claims !== null) tokens.set(name, await service.token(claims))

/** What `call` checks against the OpenAPI document; it has no HEAD, and only what is below `/api/`. */
async function send(method: string, url: string, caller: Caller): Promise<Answer> {
  const token = tokens.get(caller.name) ?? null
  const requestId = { 'x-request-id': REQUEST_ID }
  if (method !== 'HEAD' && url.startsWith('/api/')) return service.call(method, url, { token, headers: requestId })
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
  const answer = await app.inject({ method: method as 'GET', url, headers: { ...requestId, ...authorization } })
  return { status: answer.statusCode, headers: answer.headers as Answer['headers'], body: answer.body }
}

/** The cells of a route. HEAD needs what GET needs. */
const cellsOf = (route: string) => documented.get(route) ?? documented.get(route.replace(/^HEAD /, 'GET '))

const isAllowed = (cells: Map<Column, string>, columns: readonly Column[]) =>
  columns.some(column => cells.get(column) !== '–')

test('the document has a row for every route, and every row has a route', () => {
  expect(registered.filter(route => cellsOf(route) === undefined)).toEqual([])
  expect([...documented.keys()].filter(route => !registered.includes(route))).toEqual([])
  expect(registered.length).toBeGreaterThan(60)
})

test('each cell has a known value, and each column a caller', () => {
  const cells = new Set([...documented.values()].flatMap(row => [...row.values()]))
  expect(cells).toEqual(new Set(['yes', '–', 'own', 'bounded']))
  const [row] = documented.values()
  expect(new Set(CALLERS.flatMap(({ columns }) => columns))).toEqual(new Set(row?.keys()))
})

test('the OpenAPI document states the roles of every route', () => {
  const { paths } = app.swagger() as unknown as {
    paths: Record<string, Record<string, { 'x-permission'?: string; security?: { bearer: string[] }[] }>>
  }
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { 'x-permission': permission, security }] of Object.entries(item)) {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      const cells = cellsOf(route) ?? new Map<Column, string>()
      const isOpen = isAllowed(cells, ['no token'])
      const needsRole = !isOpen && !isAllowed(cells, ['any token', 'user'])
      expect(permission !== undefined, route).toBe(needsRole)
      // What is not stated is the document's own: any token.
      const roles = security?.flatMap(({ bearer }) => bearer)
      const expected = ROLE_COLUMNS.filter(column => isAllowed(cells, [column]))
      expect(roles, route).toEqual(isOpen ? [] : needsRole ? expected : undefined)
    }
  }
})

const OWN_ROUTES = [...documented]
  .filter(([route, cells]) => cells.get('user') === 'own' && route.startsWith('GET '))
  .map(([route]) => route)

const aUser = await service.userToken(7)

describe("users see their own data, no other user's, and not who works for the operator or what it noted", () => {
  test.each(OWN_ROUTES)('%s', async route => {
    const url = route.slice('GET '.length)
    const own = await app.inject({ url: pathFor(url, 7), headers: { authorization: `Bearer ${aUser}` } })
    expect(own.statusCode, own.body).toBe(200)
    expect(own.body).not.toMatch(/of-user-8|operators-own|"gateway"|"(?:created|updated|made|settled)_by":\s*[^n]/)
    if (!/summary|usage/.test(url)) expect(own.body).toContain('of-user-7')
    if (url.includes(':')) {
      expect((await service.call('GET', pathFor(url, 8), { token: aUser })).status).toBe(404)
    } else {
      // No parameter selects another user.
      const other = `${pathFor(url, 7)}${url.endsWith('/usage') ? '&' : '?'}user_id=8`
      expect((await service.call('GET', other, { token: aUser })).status).toBe(400)
    }
  })

  test('their quotas have no authors and no metadata, but name and reference', async () => {
    const { items } = (await service.call('GET', '/api/sms/quota/list', { token: aUser })).body
    const theirs = { created_by: null, updated_by: null, metadata: {}, name: 'of-user-7', external_ref: 'R-1' }
    expect(items).toMatchObject([theirs])
    const { body } = await service.call('GET', '/api/sms/admin/quota/list?user_id=7')
    expect(body.items).toEqual([{ ...items[0], created_by: '1', updated_by: '1', metadata: OPERATORS_OWN }])
  })
})

describe('who may call', () => {
  test.each(registered)('%s', async route => {
    const cells = cellsOf(route) ?? new Map<Column, string>()
    const [method = '', url = ''] = route.split(' ')
    for (const caller of CALLERS) {
      const expected = isAllowed(cells, caller.columns) ? 'allowed' : caller.columns.includes('no token') ? 401 : 403
      // Most paths name no user, and are the same for both.
      for (const path of new Set([pathFor(url, 7), pathFor(url, 8)])) {
        const answer = await send(method, path, caller)
        const found = answer.status === 401 || answer.status === 403 ? answer.status : 'allowed'
        expect({ caller: caller.name, path, found }).toEqual({ caller: caller.name, path, found: expected })
        if (found !== 'allowed' && method !== 'HEAD')
          expectProblem(answer, found === 401 ? 'unauthenticated' : 'forbidden')
      }
    }
  })
})
