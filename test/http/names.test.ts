/** The names of principals: from the tokens that they call with, into the table, and out of it. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { namesOf, writeNames } from '../../src/db/users/principal-names.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { START, startService } from '../support/service.ts'

const lines: string[] = []
const service = await startService({ env: { AUTH_USER_CLAIM: 'uid' }, onLogLine: line => lines.push(line) })
const { call, db, clock, engine, token } = service
const NAMES = '/api/sms/admin/names'

const ROLE = { roles: ['sms-quota:admin'] }
const urlOf = (...subjects: string[]) =>
  `${NAMES}?${new URLSearchParams(subjects.map((name): [string, string] => ['subject', name]))}`
const named = async (...subjects: string[]) => (await call('GET', urlOf(...subjects))).body.items

/** Calls with a token that has a name. */
async function meet(claims: Record<string, unknown>): Promise<void> {
  expect((await call('GET', '/api/sms/me', { token: await token(claims) })).status).toBe(200)
}

test('a name is known shortly after its token was first used, and a new one replaces it', async () => {
  expect(await named('ann')).toEqual([])
  await meet({ sub: 'ann', name: 'Ann Lee', ...ROLE })
  await expect.poll(() => named('ann')).toEqual([{ subject: 'ann', name: 'Ann Lee' }])
  await meet({ sub: 'ann', name: 'Ann Lee-Smith', ...ROLE })
  await expect.poll(() => named('ann')).toEqual([{ subject: 'ann', name: 'Ann Lee-Smith' }])
})

test('senders have names, customers and tokens without a name have none', async () => {
  await meet({ sub: 'customer', name: 'Cleo', uid: 7 })
  await meet({ sub: 'nameless', ...ROLE })
  await meet({ sub: 'gateway,1', name: 'Gateway Nord', roles: ['sms-quota:sender'] })
  // The subjects have commas, and each is asked for by itself.
  await expect
    .poll(() => named('gateway,1', 'customer', 'nameless', 'gateway', 'gateway,1'))
    .toEqual([{ subject: 'gateway,1', name: 'Gateway Nord' }])
})

test('a name that looks like the name of the service is none, also one that was stored before', async () => {
  await meet({ sub: 'eve', name: 'SMS\u2010quota', ...ROLE })
  await meet({ sub: 'after-eve', name: 'Ann', ...ROLE })
  await writeNames(db, [{ subject: 'mallory', name: '\u0455ms-quota', user_id: null }], START)
  await expect.poll(() => named('eve', 'mallory', 'after-eve')).toEqual([{ subject: 'after-eve', name: 'Ann' }])
})

test.each([
  ['none', '', 'subject'],
  ['an empty one', '?subject=', 'subject/0'],
  ['more than 100', urlOf(...Array.from({ length: 101 }, (_, n) => `s${n}`)).slice(NAMES.length), 'subject'],
  ['one that is too long', `?subject=a&subject=${'x'.repeat(256)}`, 'subject/1'],
  ['an unknown parameter', '?subject=a&subjects=b', 'subjects'],
])('subjects: %s is 400', async (_, query, path) => {
  const { status, body } = await call('GET', `${NAMES}${query}`)
  expect({ status, path: body.errors?.[0]?.path }).toEqual({ status: 400, path })
})

test('100 subjects are accepted', async () => {
  expect((await call('GET', urlOf(...Array.from({ length: 100 }, (_, n) => `s${n}`)))).status).toBe(200)
})

test('an erasure finds the names of a user whose subject is another, and the export has them', async () => {
  await meet({ sub: 'auth0|5', name: 'Dana', uid: 4711, ...ROLE })
  await meet({ sub: '4711', name: 'Another', ...ROLE })
  const both = [
    { subject: '4711', name: 'Another' },
    { subject: 'auth0|5', name: 'Dana' },
  ]
  await expect.poll(() => named('auth0|5', '4711')).toEqual(both)
  const data = '/api/sms/admin/users/4711/data'
  expect(
    String((await call('GET', data)).body)
      .split('\n')
      .slice(1),
  ).toEqual([
    `{"record":"principal_name","subject":"auth0|5","name":"Dana","seen_at":"${new Date(START).toISOString()}"}`,
    '{"record":"end","records":1}',
    '',
  ])
  expect((await call('DELETE', data)).status).toBe(202)
  await finishErasures(createQuickEraser({ db, engine, now: () => clock.now, watched: async () => [] }))
  expect((await call('GET', `${data}/erasure`)).body).toMatchObject({ status: 'finished' })
  expect(await named('auth0|5', '4711')).toEqual([{ subject: '4711', name: 'Another' }])
})

test('the table is bounded: when it is full, only names of known subjects are written', async () => {
  const seen = (subject: string, name: string) => ({ subject, name, user_id: null })
  await writeNames(db, [seen('c', 'Cid'), seen('b', 'Bea')], START)
  await writeNames(db, [seen('b', 'Beatrix'), seen('late', 'Lou')], START, 2)
  expect(await namesOf(db, ['b', 'c', 'late'])).toEqual([
    { subject: 'b', name: 'Beatrix' },
    { subject: 'c', name: 'Cid' },
  ])
})

test('a failure to store a name is logged and concerns no call', async () => {
  await db.query({ text: sql`alter table principal_name rename to gone` })
  await meet({ sub: 'eve', name: 'Eve', ...ROLE })
  await expect.poll(() => lines.filter(line => line.includes('names: not stored')).length).toBe(1)
  await db.query({ text: sql`alter table gone rename to principal_name` })
  // Another token of the same subject.
  await meet({ sub: 'eve', name: 'Eve', jti: '2', ...ROLE })
  await expect.poll(() => named('eve')).toEqual([{ subject: 'eve', name: 'Eve' }])
})
