/** What a token that names its user by a reference leads to over time: with a clock of the test and a table in memory. */
import Fastify from 'fastify'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { MEMORY_MS } from '../../src/domain/time/memories.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'
import { createVerificationLimit, guard, identifyUsers, userIdOf } from '../../src/http/auth/guard.ts'
import { createUserReferences } from '../../src/http/references/references.ts'

const SECRET = 'a secret of more than thirty-two bytes'

test('a token that is remembered leads to no user who does not have its reference any more', async () => {
  const loaded = loadConfig({ AUTH_SECRET: SECRET, AUTH_USER_REF_CLAIM: 'sub' })
  if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
  const clock = { ms: 1_000 }
  const table = new Map<string, number>()
  const verified: string[] = []
  const authenticator = await createAuthenticator(loaded.config, {
    now: () => clock.ms,
    log: { info() {}, error() {} },
    onVerified: ({ subject }) => verified.push(subject),
  })
  const app = Fastify()
  app.decorateRequest('principal', null)
  guard(
    app,
    authenticator,
    'own',
    createVerificationLimit(0, () => undefined),
  )
  const read = async (refs: readonly string[]) =>
    new Map(refs.flatMap(ref => (table.has(ref) ? [[ref, table.get(ref) ?? 0] as const] : [])))
  identifyUsers(app, createUserReferences({ read, monotonicMs: () => clock.ms }))
  app.get('/', request => ({ user: userIdOf(request) }))

  const token = await new SignJWT({ sub: 'A-1', exp: 3_600 })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(SECRET))
  const userNow = async () => {
    const answer = await app.inject({ url: '/', headers: { authorization: `Bearer ${token}` } })
    return answer.statusCode === 200 ? answer.json().user : answer.json().code
  }
  expect(await userNow()).toBe('forbidden')
  table.set('A-1', 7)
  expect(await userNow()).toBe(7)
  table.delete('A-1')
  clock.ms += MEMORY_MS.userOfReference
  expect(await userNow()).toBe('forbidden')
  table.set('A-1', 8)
  expect(await userNow()).toBe(8)
  expect(verified).toEqual(['A-1'])
})
