/**
 * The authorization matrix: every route, called by every kind of caller, for the caller's own data and for another user's.
 * The routes come from the server itself, so a route without an entry in `ROUTES_BY_ACCESS` fails.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import type { Access } from '../../src/http/auth/authenticator.ts'
import { START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

/** What a call needs; `open`: no token. HEAD needs what GET needs. */
const ROUTES_BY_ACCESS: Record<Access | 'open', string[]> = {
  open: [
    'GET /livez',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /docs',
    'HEAD /docs/',
    'GET /docs/errors',
    'GET /docs/json',
    'GET /docs/yaml',
    'GET /docs/static/index.html',
    'GET /docs/static/swagger-initializer.js',
    'GET /docs/static/*',
    'GET /',
    'GET /console',
    'GET /console/*',
    'GET /console/assets/*',
    'GET /console/config.json',
    'GET /console/provider.json',
    'GET /console/signed-in',
  ],
  anyone: ['GET /api/sms/me'],
  own: [
    'GET /api/sms/quota/list',
    'GET /api/sms/quota/summary',
    'GET /api/sms/quota/usage',
    'GET /api/sms/quota/reservations',
    'GET /api/sms/quota/reservations/:id',
    'GET /api/sms/quota/denials',
    'GET /api/sms/quota/denials/:denial_id',
  ],
  read: [
    'GET /api/sms/admin/quota/list',
    'GET /api/sms/admin/quota/summary',
    'GET /api/sms/admin/quota/alerts',
    'GET /api/sms/admin/quota/:id',
    'GET /api/sms/admin/quota/:id/history',
    'GET /api/sms/admin/quota/:id/windows',
    'GET /api/sms/admin/quota/reservations',
    'GET /api/sms/admin/quota/reservations/:user_id/:id',
    'GET /api/sms/admin/quota/usage',
    'GET /api/sms/admin/quota/usage/top',
    'GET /api/sms/admin/users',
    'GET /api/sms/admin/users/:user_id',
    'GET /api/sms/admin/users/:user_id/data',
    'GET /api/sms/admin/users/:user_id/data/erasure',
    'GET /api/sms/admin/search',
    'GET /api/sms/admin/audit',
    'GET /api/sms/admin/names',
    'GET /api/sms/admin/denials',
    'GET /api/sms/admin/denials/:denial_id',
    'GET /api/sms/admin/events',
    'GET /api/sms/admin/webhooks',
    'GET /api/sms/admin/webhooks/:id',
    'GET /api/sms/admin/webhooks/:id/deliveries',
    'GET /api/sms/admin/webhooks/:id/deliveries/:delivery',
    'GET /api/sms/admin/webhooks/:id/history',
  ],
  export: [
    'GET /api/sms/admin/export/quotas',
    'GET /api/sms/admin/export/usage',
    'GET /api/sms/admin/export/denials',
    'GET /api/sms/admin/export/ledger',
  ],
  check: ['POST /api/sms/admin/quota/check'],
  adjust: ['POST /api/sms/admin/quota/:id/adjust'],
  change: [
    'POST /api/sms/admin/quota',
    'POST /api/sms/admin/quota/import',
    'POST /api/sms/admin/quota/bulk',
    'PUT /api/sms/admin/quota/:id',
    'DELETE /api/sms/admin/quota/:id',
    'DELETE /api/sms/admin/users/:user_id/data',
    'POST /api/sms/admin/webhooks',
    'PUT /api/sms/admin/webhooks/:id',
    'DELETE /api/sms/admin/webhooks/:id',
    'POST /api/sms/admin/webhooks/:id/rotate-secret',
    'POST /api/sms/admin/webhooks/:id/test',
    'POST /api/sms/admin/webhooks/:id/redeliver',
    'POST /api/sms/admin/webhooks/:id/deliveries/:delivery/redeliver',
  ],
  send: [
    'POST /api/sms/sender/quota/check',
    'POST /api/sms/sender/quota/reserve',
    'POST /api/sms/sender/quota/consume',
    'POST /api/sms/sender/quota/commit',
    'POST /api/sms/sender/quota/release',
    'POST /api/sms/sender/quota/refund',
    'POST /api/sms/sender/quota/batch',
    'GET /api/sms/sender/quota/reservations/:user_id/:id',
  ],
  // Not a route's, but a field's: test/http/auth-roles.test.ts.
  force: [],
}

interface Caller {
  name: string
  /** Null: no token. */
  claims: { sub: string; roles?: string[] } | null
  may: Access[]
}

const ADMIN_MAY: Access[] = ['anyone', 'read', 'export', 'check', 'adjust', 'change']
const CALLERS: Caller[] = [
  { name: 'no token', claims: null, may: [] },
  { name: 'a user', claims: { sub: '7' }, may: ['anyone', 'own'] },
  { name: 'a user with unknown roles', claims: { sub: '7', roles: ['admin', 'sender'] }, may: ['anyone', 'own'] },
  { name: 'a machine without a role', claims: { sub: 'machine' }, may: ['anyone'] },
  { name: 'a sender', claims: { sub: 'gateway', roles: ['sms-quota:sender'] }, may: ['anyone', 'send'] },
  {
    name: 'a sender that is a user',
    claims: { sub: '7', roles: ['sms-quota:sender'] },
    may: ['anyone', 'own', 'send'],
  },
  { name: 'the right to force alone', claims: { sub: 'gateway', roles: ['sms-quota:force'] }, may: ['anyone'] },
  {
    name: 'an auditor',
    claims: { sub: 'ann', roles: ['sms-quota:auditor'] },
    may: ['anyone', 'read', 'export', 'check'],
  },
  {
    name: 'support',
    claims: { sub: 'sue', roles: ['sms-quota:support'] },
    may: ['anyone', 'read', 'check', 'adjust'],
  },
  { name: 'an administrator', claims: { sub: 'boss', roles: ['sms-quota:admin'] }, may: ADMIN_MAY },
  {
    name: 'an administrator that is a user',
    claims: { sub: '7', roles: ['sms-quota:admin'] },
    may: [...ADMIN_MAY, 'own'],
  },
]

/** The routes of the server as `METHOD /path`, in the order of their registration. */
const registered: string[] = []
const watchRoutes = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) registered.push(`${name} ${url}`)
  })
}
subscribe('fastify.initialization', watchRoutes)
const service = await startSender()
unsubscribe('fastify.initialization', watchRoutes)

const { app, allow, ask } = service
const quotaIds = new Map<number, number>()
for (const user of [7, 8]) {
  quotaIds.set(user, await allow({ user_id: user, limit: 5, name: `of-user-${user}` }))
  await ask('reserve', { user_id: user, id: `of-user-${user}`, units: 1 })
  await ask('reserve', { user_id: user, id: `denied-of-user-${user}`, units: 9 })
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

const send = (method: string, url: string, caller: Caller) => {
  const token = tokens.get(caller.name)
  return app.inject({
    method: method as 'GET',
    url,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
}

const accessOf = new Map<string, Access | 'open'>()
for (const [access, routes] of Object.entries(ROUTES_BY_ACCESS)) {
  for (const route of routes) {
    accessOf.set(route, access as Access | 'open')
    if (route.startsWith('GET ')) accessOf.set(`HEAD ${route.slice(4)}`, access as Access | 'open')
  }
}

test('every route has an entry here, and every entry a route', () => {
  expect(registered.filter(route => !accessOf.has(route))).toEqual([])
  const entries = Object.values(ROUTES_BY_ACCESS).flat()
  expect(entries.filter(route => !registered.includes(route))).toEqual([])
  expect(registered.length).toBeGreaterThan(60)
})

test('the OpenAPI document states the permission and the roles of every route', () => {
  const { paths } = app.swagger() as unknown as {
    paths: Record<string, Record<string, { 'x-permission'?: string; security?: { bearer: string[] }[] }>>
  }
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { 'x-permission': permission, security }] of Object.entries(item)) {
      const access = accessOf.get(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
      const isPermission = access !== 'open' && access !== 'anyone' && access !== 'own'
      expect(permission, path).toBe(isPermission ? access : undefined)
      const roles = security?.flatMap(({ bearer }) => bearer) ?? null
      if (access === 'open') expect(roles).toEqual([])
      if (isPermission) expect(roles?.length).toBeGreaterThan(0)
    }
  }
})

describe("users see their own data and no other user's", () => {
  const caller = CALLERS.find(({ name }) => name === 'a user') as Caller

  test.each(ROUTES_BY_ACCESS.own)('%s', async route => {
    const url = route.slice('GET '.length)
    const own = await send('GET', pathFor(url, 7), caller)
    expect(own.statusCode, own.body).toBe(200)
    expect(own.body).not.toContain('of-user-8')
    if (!/summary|usage/.test(url)) expect(own.body).toContain('of-user-7')
    if (url.includes(':')) {
      expect((await send('GET', pathFor(url, 8), caller)).statusCode).toBe(404)
    } else {
      // No parameter selects another user.
      const asked = await send('GET', `${pathFor(url, 7)}${url.endsWith('/usage') ? '&' : '?'}user_id=8`, caller)
      expect(asked.statusCode).toBe(400)
    }
  })
})

describe('who may call', () => {
  test.each([...accessOf].filter(([, access]) => access !== 'force'))('%s (%s)', async (route, access) => {
    const [method = '', url = ''] = route.split(' ')
    for (const caller of CALLERS) {
      const expected = access === 'open' || caller.may.includes(access) ? 'allowed' : caller.claims ? 403 : 401
      for (const user of [7, 8]) {
        const { statusCode, body } = await send(method, pathFor(url, user), caller)
        const found = statusCode === 401 || statusCode === 403 ? statusCode : 'allowed'
        expect({ caller: caller.name, user, found }, body).toEqual({ caller: caller.name, user, found: expected })
      }
    }
  })
})
