/** Texts that tell things apart have no invisible characters: of each field that takes text, it is known which one it is. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { claimReference } from '../../src/db/users/profiles.ts'
import { INVISIBLE, invisibleIn } from '../../src/domain/basics/invisible.ts'
import { isMissingValue } from '../../src/domain/users/user-profile.ts'
import { FORMATS } from '../../src/http/platform/formats.ts'
import { readDocument, type Schema } from '../support/fuzz/document.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, db, senderToken } = service
const ADMIN = '/api/sms/admin'
const SENDER = '/api/sms/sender/quota'
const asSender = (op: string, body: object) => call('POST', `${SENDER}/${op}`, { token: senderToken, body })

const { operations, resolve } = readDocument(service.app.swagger())

/** The fields of a body that take a text with an invisible character. */
function openTextsIn(schema: Schema, name = ''): string[] {
  const { $ref, type, format = '', pattern = '', items, anyOf = [], oneOf = [] } = schema
  if ($ref !== undefined) return openTextsIn(resolve(schema), name)
  const inside = Object.entries(schema.properties ?? {})
  const others = [...anyOf, ...oneOf, items, schema.additionalProperties].filter(other => typeof other === 'object')
  const takes = (text: string) => new RegExp(pattern, 'u').test(text) && FORMATS[format]?.check(text) !== false
  const isOpen =
    [type].flat().includes('string') &&
    schema.enum === undefined &&
    schema.const === undefined &&
    takes('a\u200bb@c.de')
  return [
    ...(isOpen ? [name] : []),
    ...others.flatMap(other => openTextsIn(other, name)),
    ...inside.flatMap(([key, inner]) => openTextsIn(inner, name === 'select' ? `select.${key}` : key)),
  ]
}

test('each text that a body may have either refuses invisible characters, or is known as one for people, or to look up', () => {
  const open = new Set(operations.flatMap(({ body }) => (body === undefined ? [] : openTextsIn(body.schema))))
  expect([...open].toSorted()).toEqual([
    // What an export has and an import ignores.
    'created_by',
    'description',
    'metadata',
    // Of a quota or a user, for people to read. That of a plan is not: it names the plan.
    'name',
    'note',
    'reason',
    // Loses them.
    'recipient',
    // Look up quotas that are there.
    'select.external_ref',
    'select.name',
    'text',
    'updated_by',
    'user_name',
    // Names a user who is there: one who is not is refused by the name of the character.
    'user_ref',
  ])
  const planBody = operations.find(({ id }) => id === 'createPlan')?.body?.schema ?? {}
  expect(openTextsIn({ properties: { name: resolve(planBody).properties?.name ?? {} } })).toEqual([])
})

test.each([
  ['zero width', '\u200b', 'U+200B'],
  ['a joiner', '\u200d', 'U+200D'],
  ['a soft hyphen', '\u00ad', 'U+00AD'],
  ['a mark of direction', '\u202e', 'U+202E'],
  ['an isolate', '\u2066', 'U+2066'],
  ['a byte order mark', '\ufeff', 'U+FEFF'],
  ['a variation selector', '\ufe0f', 'U+FE0F'],
  ['a variation selector of plane 14', '\u{e0100}', 'U+E0100'],
  ['a tag', '\u{e0041}', 'U+E0041'],
  ['a filler of Hangul', '\u3164', 'U+3164'],
  ['a filler of half width', '\uffa0', 'U+FFA0'],
  ['a mark of annotations', '\ufff9', 'U+FFF9'],
  ['a grapheme joiner', '\u034f', 'U+034F'],
  ['a break of lines', '\u2028', 'U+2028'],
  ['a control character', '\u0085', 'U+0085'],
  ['NUL', '\0', 'U+0000'],
])('%s is invisible, and named with its place', (_what, character, code) => {
  expect(invisibleIn(`😀b${character}c`)).toBe(`${code} at position 3`)
  expect(`😀b${character}c`.replaceAll(INVISIBLE, '')).toBe('😀bc')
})

test('letters, marks, signs, blanks and emoji of one character are visible', () => {
  expect(invisibleIn('Aä e\u0301 \u00a0\u3000 שלום مرحبا हिन्दी 한글 李 😀 🇩🇪 ~ \u2800 \ufffd')).toBeUndefined()
})

const plan = (name: string) => ({ name, slots: [{ slot: 'monthly', limit: 5, period: 'month' }] })
const quota = (external_ref: string) => ({ user_id: 7, limit: 5, external_ref })

test.each<[string, string, string, (text: string) => object, string]>([
  ['the reference of a user', 'PUT', `${ADMIN}/users/7/profile`, ref => ({ ref }), '/ref'],
  ['the e-mail address of a user', 'PUT', `${ADMIN}/users/7/profile`, email => ({ email: `${email}@a.de` }), '/email'],
  ['the reference of a quota', 'POST', `${ADMIN}/quota`, quota, '/external_ref'],
  ['the name of a plan', 'POST', `${ADMIN}/plans`, plan, '/name'],
  ['a tag', 'POST', `${SENDER}/check`, tag => ({ user_id: 7, units: 1, tag }), '/tag'],
  ['who is sent for', 'POST', `${SENDER}/reserve`, user_ref => ({ user_ref, id: 'm', units: 1 }), '/user_ref'],
  ['who gets a quota', 'POST', `${ADMIN}/quota`, user_ref => ({ user_ref, limit: 5 }), '/user_ref'],
])('%s has none', async (_what, method, url, bodyWith, path) => {
  const token = url.startsWith(SENDER) ? senderToken : service.adminToken
  for (const character of ['\u200b', '\u202e', '\u3164']) {
    const { status, body } = await call(method, url, { token, body: bodyWith(`abc${character}`) })
    const code = character.charCodeAt(0).toString(16).toUpperCase()
    const message = expect.stringContaining(`has the invisible U+${code} at position 4`)
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [{ path, message }] })
  }
})

test.each<[string, string, string, (text: string) => object, string]>([
  ['the reference of a quota', 'PUT', `${ADMIN}/quota/1`, external_ref => ({ external_ref }), '/external_ref'],
  ['the reference of a new quota', 'POST', `${ADMIN}/quota`, quota, '/external_ref'],
  ['the name of a plan', 'POST', `${ADMIN}/plans`, plan, '/name'],
  ['a tag', 'POST', `${SENDER}/check`, tag => ({ user_id: 7, units: 1, tag }), '/tag'],
])('%s has no blanks around it, which nothing shows', async (_what, method, url, bodyWith, path) => {
  const token = url.startsWith(SENDER) ? senderToken : service.adminToken
  for (const text of [' abc', 'abc ', 'abc\u00a0', '\u3000abc', ' ']) {
    const { status, body } = await call(method, url, { token, body: bodyWith(text) })
    const errors = [{ path, message: expect.stringContaining('it has blanks around it') }]
    expect({ status, errors: body.errors }, JSON.stringify(text)).toEqual({ status: 400, errors })
  }
  expect((await call(method, url, { token, body: bodyWith('abc d') })).body.errors).toBeUndefined()
})

test('a row of an import has none', async () => {
  const rows = [quota('abc\u200b'), { ...quota('abc'), user_id: undefined, user_ref: 'abc\u200b' }]
  const body = rows.map(row => JSON.stringify(row)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await call('POST', `${ADMIN}/quota/import`, { body, headers })
  const errors = answer.body.split('\n', 2).map((line: string) => JSON.parse(line).errors)
  const message = expect.stringContaining('has the invisible U+200B at position 4')
  expect(errors).toEqual([[{ path: '/external_ref', message }], [{ path: '/user_ref', message }]])
})

test('what was stored before is read, found and sent for', async () => {
  const { body: stored } = await call('POST', `${ADMIN}/quota`, { body: quota('abc') })
  await call('PUT', `${ADMIN}/users/7/profile`, { body: { ref: 'anna' } })
  const { id: planId } = (await call('POST', `${ADMIN}/plans`, { body: plan('Basic') })).body
  const old = 'anna\u200b'
  await db.query({ text: sql`update quota set external_ref = $1 where id = $2`, values: [old, stored.id] })
  await db.query({ text: sql`update user_profile set ref = $1 where user_id = 7`, values: [old] })
  await db.transaction(tx => claimReference(tx, old, 7))
  await db.query({ text: sql`update plan_version set name = $1 where plan_id = $2`, values: [old, planId] })

  expect((await call('GET', `${ADMIN}/quota/${stored.id}`)).body).toMatchObject({ external_ref: old })
  const listed = await call('GET', `${ADMIN}/quota/list?external_ref=${encodeURIComponent(old)}`)
  expect(listed.body.items).toMatchObject([{ id: stored.id }])
  const path = `${ADMIN}/users/ref:${encodeURIComponent(old)}`
  expect((await call('GET', `${path}/profile`)).body).toMatchObject({ user_id: 7, ref: old })
  expect((await call('PUT', `${path}/plan`, { body: { plan_id: planId } })).status).toBe(200)
  expect((await asSender('consume', { user_ref: old, id: 'm', units: 1 })).body).toMatchObject({ granted: true })
  const mended = await call('PUT', `${ADMIN}/quota/${stored.id}`, { body: { external_ref: 'anna' } })
  expect(mended).toMatchObject({ status: 200, body: { external_ref: 'anna' } })
})

describe('with AUTO_USERS', async () => {
  const auto = await startService({ env: { AUTO_USERS: 'true' } })
  const users = async () => (await auto.db.query({ text: sql`select from user_profile` })).length
  const missing = ['undefined', 'null', 'None', 'NaN', 'NULL', 'nil', '(null)', 'customer-undefined', 'id:null']
  const templates = [
    '00000000-0000-0000-0000-000000000000',
    `\${userId}`,
    '{{user}}',
    '<%=id%>',
    '[objectObject]',
    '%s',
  ]

  test.each([...missing, ...templates])('%s makes no user, with the reason', async ref => {
    const token = auto.senderToken
    const ask = (op: string, body: object, by = token) => auto.call('POST', `${SENDER}/${op}`, { token: by, body })
    const draw = { user_ref: ref, units: 1 }
    const errors = [{ path: '/user_ref', message: expect.stringContaining('do not have') }]
    const refused = { status: 400, body: { code: 'invalid_request', errors } }
    expect(await ask('reserve', { ...draw, id: 'm' })).toMatchObject(refused)
    expect(await ask('consume', { ...draw, id: 'm' })).toMatchObject(refused)
    expect(await ask('check', draw)).toMatchObject(refused)
    const { body } = await ask('batch', { operations: [{ op: 'consume', ...draw, id: 'm' }] })
    expect(body.results).toMatchObject([refused])
    expect(await auto.call('POST', `${ADMIN}/quota/check`, { body: draw })).toMatchObject(refused)
    expect(await auto.call('POST', `${ADMIN}/quota`, { body: { user_ref: ref, limit: 5 } })).toMatchObject(refused)
    const row = JSON.stringify({ user_ref: ref, external_ref: 'A', limit: 5 })
    const headers = { 'content-type': 'application/x-ndjson' }
    for (const query of ['', '?dry_run=true']) {
      const imported = await auto.call('POST', `${ADMIN}/quota/import${query}`, { body: `${row}\n`, headers })
      expect(JSON.parse(imported.body.split('\n')[0])).toMatchObject({ record: 'failed', errors })
    }
    expect(await users()).toBe(0)
  })

  test('invisible characters make none', async () => {
    const { status, body } = await auto.call('POST', `${SENDER}/reserve`, {
      token: auto.senderToken,
      body: { user_ref: 'abc\u200b', id: 'm', units: 1 },
    })
    expect([status, body.errors[0].message]).toEqual([400, expect.stringContaining('U+200B at position 4')])
    expect(await users()).toBe(0)
  })

  test('an administrator may call a user so, who then sends', async () => {
    expect((await auto.call('PUT', `${ADMIN}/users/7/profile`, { body: { ref: 'None' } })).status).toBe(200)
    const body = { user_ref: 'None', id: 'm', units: 1 }
    expect((await auto.call('POST', `${SENDER}/consume`, { token: auto.senderToken, body })).status).toBe(200)
  })
})

test.each(['nullius', 'undefined-1', 'Noneman', 'nan-7', '{3f2504e0-4f89-41d3-9a0c-0305e82c3301}', '0', 'a%sb'])(
  '%s is no missing value',
  ref => expect(isMissingValue(ref)).toBe(false),
)

test('the subject of a token has none', async () => {
  const { status, body } = await call('GET', `${ADMIN}/quota/list`, {
    token: await service.token({ sub: 'ann\u200b', roles: ['sms-quota:admin'] }),
  })
  expect([status, body.code]).toEqual([401, 'unauthenticated'])
})
