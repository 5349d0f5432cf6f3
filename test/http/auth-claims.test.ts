/** What identity providers put into tokens, and what the service reads of it. */
import type { JWTPayload } from 'jose'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { createClaimReader } from '../../src/http/auth/claims.ts'

/** Reads claims with these variables. */
function read(env: Record<string, string>, claims: JWTPayload & Record<string, unknown>) {
  const loaded = loadConfig({ AUTH_SECRET: 'a secret of more than thirty-two bytes', ...env })
  if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
  return createClaimReader(loaded.config.auth)({ sub: 'ada', exp: 2_000_000_000, ...claims })
}

const rolesOf = (path: string, claims: Record<string, unknown>, env: Record<string, string> = {}) =>
  read({ AUTH_ROLES_CLAIM: path, ...env }, claims).roles
const ADMIN = ['sms-quota:admin']

describe('a dotted path leads to a claim', () => {
  test.each<[string, Record<string, unknown>]>([
    ['roles', { roles: ADMIN }],
    ['realm_access.roles', { realm_access: { roles: ADMIN } }],
    ['resource_access.sms.quota.example.roles', { resource_access: { 'sms.quota.example': { roles: ADMIN } } }],
    ['resource_access.sms-quota.roles', { resource_access: { account: { roles: [] }, 'sms-quota': { roles: ADMIN } } }],
    ['https://sms.example/claims.roles', { 'https://sms.example/claims': { roles: ADMIN } }],
    ['https://sms.example/claims', { 'https://sms.example/claims': ADMIN }],
    ['https://sms.example/app.v1.roles', { 'https://sms.example/app.v1': { roles: ADMIN } }],
    ['urn:zitadel:iam:org:project:roles', { 'urn:zitadel:iam:org:project:roles': { 'sms-quota:admin': { 1: 'x' } } }],
    ['a.b.c.d', { 'a.b': { 'c.d': ADMIN } }],
    ['a.b.c.d', { a: { 'b.c': { d: ADMIN } } }],
    // The longest name first, and shorter ones if it leads nowhere.
    ['a.b.roles', { 'a.b.roles': ADMIN, 'a.b': { roles: [] }, a: { b: { roles: [] } } }],
    ['a.b.roles', { 'a.b': { roles: ADMIN }, a: { b: { roles: [] }, 'b.roles': [] } }],
    ['a.b.roles', { 'a.b': { other: [] }, a: { 'b.roles': ADMIN } }],
    ['a.b.roles', { 'a.b': 'text', a: { b: { roles: ADMIN } } }],
    // Through a list of objects, to the claim of each.
    ['roles.name', { roles: [{ name: 'sms-quota:admin', id: 1 }, { name: 'other' }] }],
    ['authorities.authority', { authorities: [{ authority: 'other' }, { authority: 'sms-quota:admin' }] }],
    ['groups.roles', { groups: [{ id: 1 }, { roles: ['other'] }, { roles: ADMIN }] }],
    ['https://sms.example/orgs.roles', { 'https://sms.example/orgs': [{ roles: ADMIN }] }],
    ['a.b.c', { a: [{ b: [{ c: 'sms-quota:admin' }] }] }],
    ['scp', { scp: 'openid sms-quota:admin' }],
  ])('%s in %j', (path, claims) => {
    expect(rolesOf(path, claims)).toEqual(['admin'])
  })

  test.each<[string, Record<string, unknown>]>([
    ['a.b', { a: null }],
    ['a.b', { a: 'b' }],
    ['a.b.', { a: { b: ADMIN } }],
    ['.a', { a: ADMIN }],
    ['a..b', { a: { b: ADMIN } }],
    ['constructor.name', {}],
    ['a.constructor.name', { a: {} }],
    ['a.length', { a: ADMIN }],
    ['a.b', { a: [] }],
    ['a.b', { a: ADMIN }],
    ['a.b', { a: [null, 'b', ['b'], { c: ADMIN }] }],
    ['a.b', { a: [[{ b: ADMIN }]] }],
    ['roles', { roles: [{ name: 'sms-quota:admin' }] }],
  ])('and %s to nothing in %j', (path, claims) => {
    expect(rolesOf(path, claims)).toEqual([])
  })
})

describe('roles are read', () => {
  test.each<[unknown, string[]]>([
    [['sms-quota:admin', 'other'], ['admin']],
    ['sms-quota:admin', ['admin']],
    ['openid sms-quota:admin sms-quota:sender', ['admin', 'sender']],
    ['sms-quota:admin,sms-quota:sender', ['admin', 'sender']],
    ['other, sms-quota:admin , sms-quota:sender', ['admin', 'sender']],
    [' sms-quota:admin', ['admin']],
    [{ 'sms-quota:admin': { 77: 'org.example' }, other: {} }, ['admin']],
    [{ 'sms-quota:admin': true, 'sms-quota:sender': false, 'sms-quota:auditor': null }, ['admin']],
    [{ 'sms-quota:sender': [] }, ['sender']],
    // An element of a list is one name.
    [['sms-quota:admin sms-quota:sender'], []],
    [['sms-quota:admin,sms-quota:sender'], []],
    [['SMS-QUOTA:ADMIN'], []],
    [[['sms-quota:admin']], []],
    [[{ 'sms-quota:admin': true }], []],
    ['not-sms-quota:admin', []],
    ['', []],
    [7, []],
    [true, []],
    [null, []],
  ])('%j', (roles, expected) => {
    expect(rolesOf('roles', { roles })).toEqual(expected)
  })

  test.each<[unknown, string[]]>([
    [['SMS Admin', 'Other'], ['admin']],
    ['SMS Admin', ['admin']],
    ['Other, SMS Admin', ['admin']],
    ['SMS Admin,SMS Sender', ['admin', 'sender']],
    [{ 'SMS Admin': {} }, ['admin']],
    ['Other SMS Admin', []],
    ['Admin', []],
    ['Other ,SMS Admin ', ['admin']],
  ])('with names that have spaces: %j', (roles, expected) => {
    const env = { AUTH_ADMIN_ROLE: 'SMS Admin', AUTH_SENDER_ROLE: 'SMS Sender' }
    expect(rolesOf('roles', { roles }, env)).toEqual(expected)
  })

  test.each(['/sms/admins', 'CN=SMS Admins,OU=Groups,DC=example', 'urn:mace:example:sms', 'sms/admin@example'])(
    'with the name %s',
    name => {
      expect(rolesOf('groups', { groups: ['/sms', name] }, { AUTH_ADMIN_ROLE: name })).toEqual(['admin'])
      expect(rolesOf('groups', { groups: name }, { AUTH_ADMIN_ROLE: name })).toEqual(['admin'])
      expect(rolesOf('groups', { groups: [`${name}/other`] }, { AUTH_ADMIN_ROLE: name })).toEqual([])
    },
  )
})

test.each<[unknown, number | null]>([
  [7, 7],
  ['7', 7],
  [['7'], 7],
  [[7], 7],
  [[7, 8], null],
  [[], null],
  [[['7']], null],
  [0, 0],
  [-0, 0],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  // What a token with 9007199254740993 holds when it is read.
  [9007199254740992, null],
  ['9007199254740992', null],
  ['9007199254740993', null],
  ['07', null],
  ['007', null],
  [' 7', null],
  ['+7', null],
  ['-1', null],
  [-1, null],
  ['7.0', null],
  ['1e3', null],
  ['７', null],
  ['7\n', null],
  ['', null],
  [7.5, null],
  [{ 7: true }, null],
  [{ id: 7 }, null],
  [true, null],
  [null, null],
])('the user id of %j is %j', (user, expected) => {
  expect(read({ AUTH_USER_CLAIM: 'user' }, { user }).userId).toBe(expected)
})

describe('the reference of a user', () => {
  test.each<[unknown, string | null]>([
    ['A-7', 'A-7'],
    ['7d3c2a52-6f6b-4f0e-9b7a-0c1f2e3d4b5a', '7d3c2a52-6f6b-4f0e-9b7a-0c1f2e3d4b5a'],
    ['auth0|7', 'auth0|7'],
    // A reference of digits is no id.
    ['1042', '1042'],
    ['007', '007'],
    [1042, '1042'],
    [['A-7'], 'A-7'],
    [['A-7', 'A-8'], null],
    [9007199254740992, null],
    [1.5, null],
    ['a b', null],
    ['a\n', null],
    ['\ud83d', null],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), null],
    ['', null],
    [true, null],
    [{ id: 'A-7' }, null],
    [null, null],
    [undefined, null],
  ])('in %j is %j', (account, userRef) => {
    const principal = read({ AUTH_USER_REF_CLAIM: 'account' }, { sub: '5', account })
    expect(principal).toMatchObject({ userId: null, userRef, subject: '5' })
  })

  test.each<[Record<string, string>, Record<string, unknown>, number | null, string | null]>([
    // Without a claim for ids, no number of the provider is one.
    [{ AUTH_USER_REF_CLAIM: 'sub' }, { sub: '1042' }, null, '1042'],
    [{ AUTH_USER_REF_CLAIM: 'account' }, { sub: '1042' }, null, null],
    [{ AUTH_USER_REF_CLAIM: 'account', AUTH_USER_CLAIM: 'uid' }, { uid: 7, account: 'A-8' }, 7, null],
    [{ AUTH_USER_REF_CLAIM: 'account', AUTH_USER_CLAIM: 'uid' }, { account: 'A-8' }, null, 'A-8'],
    [{ AUTH_USER_REF_CLAIM: 'account', AUTH_USER_CLAIM: 'uid' }, { uid: 'x', account: 'A-8' }, null, 'A-8'],
    [{}, { sub: '7', account: 'A-8' }, 7, null],
  ])('%j, %j: the id %j, the reference %j', (env, claims, userId, userRef) => {
    expect(read(env, claims as JWTPayload)).toMatchObject({ userId, userRef })
  })

  test('is no subject', () => {
    const claims = { sub: undefined, account: 'A-7' } as unknown as JWTPayload
    expect(() => read({ AUTH_USER_REF_CLAIM: 'account' }, claims)).toThrow(
      expect.objectContaining({ reason: 'no_subject' }),
    )
  })
})

test.each<[unknown, string]>([
  ['auth0|7', 'auth0|7'],
  ['007', '007'],
  [7, '7'],
  [-0, '0'],
  // Other numbers are read as the same one, so they are no subject. The user id is one.
  [9007199254740992, '5'],
  [1e21, '5'],
  [1.5, '5'],
  [null, '5'],
])('sub %j is the subject %j', (sub, subject) => {
  const claims = { sub, user: 5 } as unknown as JWTPayload
  expect(read({ AUTH_USER_CLAIM: 'user' }, claims).subject).toBe(subject)
})

test.each([9007199254740992, 1e21, 1.5, null, true, '', ['7'], { id: 7 }, 'a\n', 'a\0b', '\ud83d', 'a'.repeat(256)])(
  'sub %j is no subject',
  sub => {
    const claims = { sub } as unknown as JWTPayload
    expect(() => read({}, claims)).toThrow(expect.objectContaining({ reason: 'no_subject' }))
  },
)

test.each<[unknown, number[] | 'all']>([
  [
    [7, '8'],
    [7, 8],
  ],
  [7, [7]],
  ['7 8', [7, 8]],
  [' 7  8 ', [7, 8]],
  ['7,8', [7, 8]],
  ['7, 8 ,9', [7, 8, 9]],
  ['7,', [7]],
  ['*', 'all'],
  [['*'], 'all'],
  ['7, *', 'all'],
  ['7;8', []],
  [{ 7: true }, []],
  ['007,+8,9.0', []],
  [[[7]], []],
  [[9007199254740992], []],
  ['**', []],
  ['', []],
  [true, []],
  [null, []],
  [undefined, []],
])('a sender may name the users %j: %j', (users, expected) => {
  const { senderUsers } = read({ AUTH_SENDER_USERS_CLAIM: 'users' }, { users })
  expect(senderUsers === 'all' ? 'all' : [...senderUsers]).toEqual(expected)
})

describe('the audience', () => {
  const wrong = expect.objectContaining({ reason: 'wrong_audience' })
  test.each<[Record<string, unknown>, boolean]>([
    [{ aud: 'sms' }, true],
    [{ aud: ['account', 'sms'] }, true],
    // Access tokens of some providers have no `aud`.
    [{ client_id: 'sms', token_use: 'access' }, true],
    [{ client_id: 'other' }, false],
    [{ client_id: ['sms'] }, false],
    [{}, false],
    [{ aud: 'other', client_id: 'sms' }, false],
    [{ aud: [], client_id: 'sms' }, false],
    [{ aud: null, client_id: 'sms' }, false],
    [{ aud: 'other', azp: 'sms' }, false],
    [{ azp: 'sms' }, false],
    [{ aud: 'sms2' }, false],
  ])('of %j fits: %s', (claims, fits) => {
    const reading = () => read({ AUTH_AUDIENCE: 'sms' }, claims as JWTPayload)
    if (fits) expect(reading().subject).toBe('ada')
    else expect(reading).toThrow(wrong)
  })

  test('is not asked for if none is configured', () => {
    expect(read({}, { aud: 'any' }).subject).toBe('ada')
  })
})
