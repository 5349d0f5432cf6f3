import { styleText } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { COUNTRIES } from '../../src/domain/messages/country.ts'
import { START, startService } from '../support/service.ts'
import { type Outcome, run } from '../support/terminal.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
// A sender who is also an administrator, and a user without a role.
const token = await service.token({ sub: '1', roles: ['sms-quota:admin', 'sms-quota:sender'] })
const ownToken = await service.userToken(7)
const supportToken = await service.token({ sub: 'help-desk', roles: ['sms-quota:support'] })

const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: token }
const tty = { columns: 80, timeZone: 'Europe/Berlin' }

/** The words of a line, in which quotes hold words together. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, inner]) => inner ?? word)

const outputs: string[] = []
async function quota(line: string, options: Partial<Terminal> = {}): Promise<Outcome> {
  const outcome = await run(wordsOf(line), { env, now: () => START, ...options })
  outputs.push(outcome.stdout, outcome.stderr)
  return outcome
}

/** Of a command that succeeds. */
async function json(line: string, options: Partial<Terminal> = {}) {
  const { code, stdout, stderr } = await quota(`${line} --json`, options)
  expect({ code, stderr: code === 0 ? '' : stderr }, line).toEqual({ code: 0, stderr: '' })
  return stdout
    .trimEnd()
    .split('\n')
    .map(text => JSON.parse(text))
}

let monthly: number
let cap: number
beforeAll(async () => {
  const created = await json(
    'quota create --user-id 7 --limit 1000 --period month --time-zone Europe/Berlin --name "Monthly package" --alert-at 50,90 --metadata contract=K-1=2 --metadata Tier=gold',
  )
  monthly = created[0].id
  const [{ id }] = await json(
    'quota create --user-id 7 --kind cap --limit 100 --period day --countries DE,AT --name "東京 cap"',
  )
  cap = id
})

describe('quotas', () => {
  test('a new quota has the fields that were given, under the names of the API', async () => {
    expect(await json(`quota get ${monthly}`)).toMatchObject([
      {
        id: monthly,
        user_id: 7,
        limit: 1000,
        period: 'month',
        time_zone: 'Europe/Berlin',
        name: 'Monthly package',
        alert_at: [50, 90],
        metadata: { contract: 'K-1=2', Tier: 'gold' },
        created_by: '1',
      },
    ])
    expect(await json(`quota get ${cap}`)).toMatchObject([{ kind: 'cap', countries: ['AT', 'DE'], name: '東京 cap' }])
  })

  test('months and years begin where --anchor says', async () => {
    const create = 'quota create --user-id 79 --limit 10 --starts-at 2025-12-24'
    expect(await json(`${create} --period month --anchor 15`)).toMatchObject([
      { anchor: '15', window_end: '2026-04-15T00:00:00.000Z' },
    ])
    expect(await json(`${create} --period year --anchor 04-01 --time-zone Asia/Tokyo`)).toMatchObject([
      { anchor: '04-01', window_end: '2026-03-31T15:00:00.000Z' },
    ])
    expect(await json(`${create} --period month --anchor null`)).toMatchObject([{ anchor: null }])
    for (const anchor of ['32', '01', '4-1', '02-30']) {
      const { code, stderr } = await quota(`${create} --period month --anchor ${anchor}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining('a day of the month from "1" to "31"')])
    }
  })

  test('a cap on each recipient is created, listed in words, and met by calls that name one', async () => {
    await json('quota create --user-id 76 --limit 10')
    const [cap] = await json(
      'quota create --user-id 76 --kind cap --limit 1 --period minute --per recipient --priority 9',
    )
    expect(cap).toMatchObject({ per: 'recipient', counts: 'messages', used: null, alert_at: [] })
    const { stdout } = await quota('quota list --user-id 76 --sort id')
    expect(stdout).toMatch(/ active +10 +0 +0 +10 /)
    expect(stdout).toMatch(/ active +1 +- +- +- +- +2026-03-15T12:01:00.000Z +minute, messages per recipient\n/)
    await json('consume 76 first --units 1 --recipient +4915112345678 --tag sales')
    const denied = await quota('check 76 --units 1 --recipient +4915112345678 --explain')
    expect([denied.code, denied.stdout]).toEqual([3, expect.stringContaining('cap_reached')])
    expect(await json('check 76 --units 1 --recipient +4915112345679')).toMatchObject([{ granted: true }])
  })

  test('all countries but a few are given and shown as these few', async () => {
    const create = 'quota create --user-id 77 --kind cap --period day --limit 20'
    const [{ id, countries }] = await json(`${create} --except-countries DE,AT`)
    expect([countries.length, countries.includes('FR'), countries.includes('DE')]).toEqual([
      COUNTRIES.size - 2,
      true,
      false,
    ])
    expect((await quota(`quota get ${id}`)).stdout).toMatch(/\ncountries +all but AT,DE\n/)
    await json(`quota update ${id} --except-countries FR`)
    expect((await quota(`quota history ${id} --limit 1`)).stdout).toContain(' countries all but AT,DE → all but FR\n')
  })

  test('a list is a table with aligned columns', async () => {
    const { stdout, stderr, code } = await quota('quota list --user-id 7 --sort id')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`\
 id  user_id  kind   status  limit  used  reserved  remaining  name             window_end                period
 ${monthly}        7  grant  active   1000     0         0       1000  Monthly package  2026-03-31T22:00:00.000Z  month
${cap}        7  cap    active    100     0         0        100  東京 cap         2026-03-16T00:00:00.000Z  day
`)
  })

  test('on a terminal it has colors, local times, and lines that fit', async () => {
    const { stdout } = await quota('quota list --user-id 7', { ...tty, columns: 100, hasColors: true })
    expect(stdout).toContain(styleText('green', 'active', { validateStream: false }))
    expect(stdout).toContain('2026-04-01 00:00:00')
    const plain = await quota('quota list --user-id 7', { ...tty, columns: 60 })
    expect(plain.stdout.split('\n').filter(line => line.length > 60 || line.includes('\u001b'))).toEqual([])
    expect(plain.stdout).not.toContain('2026')
  })

  test('a record shows each field in a line of its own', async () => {
    const { stdout } = await quota(`quota get ${monthly}`, tty)
    expect(stdout).toMatch(/^id +\d+\nuser_id +7\n/)
    for (const line of ['limit +1000', 'window_end +2026-04-01 00:00:00', 'metadata.Tier +gold', 'expires_at +-']) {
      expect(stdout).toMatch(new RegExp(`\n${line}\n`))
    }
  })

  test('changes: a field, null, a switch, a difference, a version', async () => {
    const [{ id, version }] = await json('quota create --user-id 8 --limit 10 --name old --expires-at 2026-06-01')
    expect(await json(`quota get ${id}`)).toMatchObject([{ expires_at: '2026-06-01T00:00:00.000Z' }])
    expect(await json(`quota update ${id} --limit null --name null --if-match ${version}`)).toMatchObject([
      { limit: null, name: null, version: 2 },
    ])
    const refused = await quota(`quota update ${id} --limit 5 --if-match ${version}`)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Version mismatch: ') })
    expect(await json(`quota update ${id} --enabled false --limit 20`)).toMatchObject([
      { status: 'suspended', limit: 20 },
    ])
    expect(await json(`quota adjust ${id} --delta -5 --reason "a test"`)).toMatchObject([{ limit: 15, name: null }])
    // A time without an offset is local, or in the quota's time zone.
    const local = { timeZone: 'Asia/Tokyo' }
    expect(await json(`quota update ${id} --expires-at 2026-07-01T09:00`, local)).toMatchObject([
      { expires_at: '2026-07-01T00:00:00.000Z' },
    ])
    expect(
      await json('quota create --user-id 8 --limit 1 --starts-at 2026-07-01 --time-zone America/New_York', local),
    ).toMatchObject([{ starts_at: '2026-07-01T04:00:00.000Z' }])
    expect(await quota(`quota delete ${id} --if-match 3`)).toMatchObject({ code: 1 })
    expect(await quota(`quota delete ${id}`)).toEqual({ code: 0, stdout: `Quota ${id} is deleted.\n`, stderr: '' })
    expect(await json(`quota list --user-id 8 --status deleted`)).toMatchObject([{ id, status: 'deleted' }])
    const at = '2026-03-15T12:00:00.000Z'
    expect((await quota(`quota history ${id} --limit 4`)).stdout).toBe(`\
version  at                        action   actor  reason  change
      6  ${at}  deleted  1      -       -
      5  ${at}  updated  1      -       expires_at 2026-06-01T00:00:00.000Z → 2026-07-01T00:00:00.000Z
      4  ${at}  updated  1      a test  limit 20 → 15
      3  ${at}  updated  1      -       limit null → 20, enabled true → false
`)
    expect(await json(`quota history ${id} --all`)).toHaveLength(6)
    const audit = await json('audit --user-id 8 --action deleted')
    expect(audit).toMatchObject([{ resource: 'quota', thing_id: id, user_id: 8, version: 6 }])
    expect((await quota('audit --user-id 8 --limit 1')).stdout).toMatch(
      /^at +actor +resource +thing_id +user_id +action /,
    )
  })

  test('an idempotency key makes a creation repeatable', async () => {
    const line = 'quota create --user-id 9 --limit 1 --idempotency-key again'
    expect(await json(line)).toEqual(await json(line))
    expect(await json('quota list --user-id 9')).toHaveLength(1)
    await json('quota create --user-id 9 --limit 1')
    expect(await json('quota list --user-id 9')).toHaveLength(2)
  })

  test('lists go on page by page', async () => {
    for (let n = 0; n < 3; n++) await json(`quota create --user-id 10 --limit ${n}`)
    const first = await quota('quota list --user-id 10 --limit 2 --sort id --json')
    const [, cursor] = /^more: --after=(\S+), or --all\n$/.exec(first.stderr) ?? []
    const rest = await json(`quota list --user-id 10 --after=${cursor}`)
    expect([
      ...first.stdout
        .trim()
        .split('\n')
        .map(text => JSON.parse(text).limit),
      rest.map(({ limit }) => limit),
    ]).toEqual([0, 1, [2]])
    expect(await json('quota list --user-id 10 --all')).toHaveLength(3)
    expect(await quota('quota list --user-id 11')).toEqual({ code: 0, stdout: '', stderr: 'There are no rows.\n' })
    expect(await quota('quota list --user-id 11 --json')).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})

describe('senders', () => {
  test('reserve, commit, refund, release, consume', async () => {
    expect(await json('reserve 7 msg-1 --units 3 --ttl-seconds 60 --on-expiry commit')).toMatchObject([
      { granted: true, id: 'msg-1', user_id: 7, units: 3, state: 'reserved' },
    ])
    expect(await json('commit 7 msg-1 --total-units 2')).toMatchObject([{ committed: 2 }])
    expect(await json('release 7 msg-1')).toMatchObject([{ released: 1, state: 'committed' }])
    expect(await json('refund 7 msg-1 --total-units 1')).toMatchObject([{ refunded: 1 }])
    expect(await json('commit 7 msg-1 --total-units 2 --verified')).toMatchObject([{ verified: true }])
    expect(await json('feedback 7 msg-1')).toMatchObject([{ verified: true, replayed: true }])
    expect(await json('consume 7 msg-2 --to +4915112345678 --text "Hello you"')).toMatchObject([
      { granted: true, segments: 1, country: 'DE', state: 'committed' },
    ])
    const { stdout, code } = await quota('reserve 7 msg-3 --units 1')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^decision +granted\nid +msg-3\n/)
    expect(stdout).toMatch(/\ndraws:\nquota_id {2}kind {3}units {2}window_start\n +\d+ {2}grant +1 {2}2026/)
  })

  test('a denial ends with 3 and says why', async () => {
    const { code, stdout, stderr } = await quota('check 7 --units 5000 --explain', { ...tty, hasColors: true })
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    const red = (text: string) => styleText('red', text, { validateStream: false })
    expect(stdout).toContain(`decision           ${red('denied')}\nreason             ${red('quota_exhausted')}\n`)
    expect(stdout).toMatch(/\nexplain:\n.*verdict.*\n +\d+ {2}grant {2}has_headroom/)
    const denied = await quota('reserve 7 msg-4 --units 100 --country DE --json')
    expect({ code: denied.code, answer: JSON.parse(denied.stdout) }).toMatchObject({
      code: 3,
      answer: { granted: false, reason: 'cap_reached', limiting_quota_id: cap },
    })
    const [{ denial_id }] = await json('denials --user-id 7')
    expect(await json(`denial ${denial_id}`)).toMatchObject([{ id: 'msg-4', explain: expect.any(Array) }])
    expect((await quota('denials')).stdout).toMatch(/^at +user_id +id .*\n2026\S+ +7 +msg-4 +100 +cap_reached/)
  })

  test('what is open of their own', async () => {
    await json('quota create --user-id 78 --limit 100')
    const desk = await service.token({ sub: 'desk', roles: ['sms-quota:sender'] })
    const own = { env: { ...env, SMS_QUOTA_TOKEN: desk } }
    for (const [id, ttl] of [
      ['late', 1200],
      ['soon', 60],
      ['done', 60],
    ])
      await json(`reserve 78 desk-${id} --units 2 --ttl-seconds ${ttl} --message-type otp`, own)
    await json('commit 78 desk-soon --total-units 1', own)
    await json('commit 78 desk-done', own)
    const { stdout, stderr, code } = await quota('reservations', own)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const made = '2026-03-15T12:00:00.000Z'
    expect(stdout).toBe(`\
user_id  id         state     units  committed  released  created_at                expires_at                on_expiry  country  message_type
     78  desk-soon  reserved      2          1         0  ${made}  2026-03-15T12:01:00.000Z  release    -        otp
     78  desk-late  reserved      2          0         0  ${made}  2026-03-15T12:20:00.000Z  release    -        otp
`)
    expect(await json('reservations --user-id 78 --limit 1', own)).toMatchObject([{ id: 'desk-soon', asked: 2 }])
    expect(await json('reservations --state committed', own)).toMatchObject([{ id: 'desk-done', expires_at: null }])
    service.clock.now += 10_000
    expect(await json('reservations --older-than 9', own)).toHaveLength(2)
    const younger = await quota('reservations --older-than 10', own)
    service.clock.now -= 10_000
    expect(younger).toEqual({ code: 0, stdout: '', stderr: 'There are no rows.\n' })
    const page = await quota('reservations --limit 1', own)
    const [, cursor] = /^more: --after=(\S+), or --all\n$/.exec(page.stderr) ?? []
    expect(await json(`reservations --after=${cursor}`, own)).toMatchObject([{ id: 'desk-late' }])
    // Of another sender, and of a caller that is none.
    expect((await json('reservations')).every(({ id }) => !id.startsWith('desk-'))).toBe(true)
    expect(await quota('reservations', { env: { ...env, SMS_QUOTA_TOKEN: ownToken } })).toMatchObject({
      code: 5,
      stdout: '',
    })
    const refused = await quota('reservations --older-than=-1', own)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--older-than must')
  })

  test('check works for support, too', async () => {
    const support = { env: { ...env, SMS_QUOTA_TOKEN: supportToken } }
    expect(await json('check 7 --units 1', support)).toMatchObject([{ granted: true, units: 1 }])
    expect(await quota('reserve 7 msg-5 --units 1', support)).toMatchObject({ code: 5 })
  })
})

describe('what a user has', () => {
  test('summary, user, users, search, whoami', async () => {
    expect(await json('summary 7')).toMatchObject([{ user_id: 7, limit: 1000, caps: [{ quota_id: cap }] }])
    expect((await quota('summary 7')).stdout).toMatch(/\ncaps:\nquota_id {2}name .*\n.*東京 cap/)
    expect(await json('user 7')).toMatchObject([{ user_id: 7, quotas: { unexpired: 2 } }])
    expect((await json('users --all')).map(({ user_id }) => user_id)).toContain(7)
    expect((await json('customers --search 7')).map(({ user_id }) => user_id)).toContain(7)
    expect((await quota('customers --search 7')).stdout).toMatch(/^user_id .*state +reason +sendable/)
    expect(await json('search Monthly')).toMatchObject([{ quotas: [{ id: monthly }] }])
    expect((await quota('search Monthly')).stdout).toMatch(/\nquotas:\n *id {2}user_id/)
    expect(await json('whoami')).toMatchObject([{ subject: '1', roles: ['admin', 'sender'] }])
  })

  test('usage is of the last seven days by default, today included', async () => {
    const berlin = { timeZone: 'Europe/Berlin' }
    const [report] = await json('usage --user-id 7', berlin)
    expect(report).toMatchObject({
      from: '2026-03-08T23:00:00.000Z',
      to: '2026-03-15T12:00:00.000Z',
      interval: 'day',
      time_zone: 'Europe/Berlin',
    })
    expect(report.items).toHaveLength(7)
    const { stdout } = await quota(
      'usage --user-id 7 --from 2026-03-01 --to 2026-03-16 --interval week --group-by country',
    )
    expect(stdout).toMatch(/^start +country +messages +verified +committed +refunded +unfunded +denied\n/)
    expect(stdout).toMatch(/\ntotal +- +2 +1 +3 +1 +0 +100\n$/)
  })

  test('usage says what it has read, if that is more than what was asked for', async () => {
    for (const command of ['usage --user-id 7', 'top-users']) {
      const { code, stderr } = await quota(`${command} --from 2026-03-01T00:07:00Z --to 2026-03-16`)
      expect([code, stderr]).toEqual([
        0,
        expect.stringContaining('this is from 2026-03-01T00:00:00.000Z to 2026-03-16T00:00:00.000Z.\n'),
      ])
    }
  })

  test('usage to a destination, and who sent most there', async () => {
    const march = '--from 2026-03-01 --to 2026-03-16'
    const [all] = await json(`usage ${march} --interval month --group-by user --country DE`)
    const [other] = await json(`usage ${march} --interval month --group-by user --country DE --message-type none`)
    expect(all.items.length).toBeGreaterThan(0)
    expect(other.items).toEqual([])
    const [top] = await json(`top-users ${march} --country DE`)
    expect(top).toMatchObject({ complete: true, unlisted_up_to: 0, items: [{ user_id: all.items[0].user_id }] })
    const { stdout, stderr } = await quota(`top-users ${march} --country DE`)
    expect(stdout).toMatch(/^user_id +messages +committed +refunded +unfunded +denied\n +7 /)
    expect(stderr).toBe('')
    expect(await quota(`top-users ${march} --country FR`)).toMatchObject({ stdout: '', stderr: 'There are no rows.\n' })
    const [week] = await json('top-users', { timeZone: 'Europe/Berlin' })
    expect(week).toMatchObject({ from: '2026-03-08T23:00:00.000Z', to: '2026-03-15T12:00:00.000Z' })
  })

  test('users see their own', async () => {
    const own = { env: { ...env, SMS_QUOTA_TOKEN: ownToken } }
    expect(await json('quota list --mine', own)).toHaveLength(2)
    expect(await json('summary --mine', own)).toMatchObject([{ user_id: 7 }])
    expect(await json('usage --mine', own)).toMatchObject([{ interval: 'day' }])
    expect(await json('denials --mine', own)).toMatchObject([{ id: 'msg-4', reason: 'cap_reached' }])
    const refused = await quota('quota list', own)
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toMatch(
      /^sms-quota: the token does not allow this\nForbidden: .*\n.*\n--mine shows your own\.\n$/,
    )
  })
})

test('units change hands once under a key, are listed, and go back', async () => {
  const [{ id }] = await json('quota create --user-id 60 --limit 100')
  const line = `transfer ${id} 61 --units 40 --reason "Branch in Lyon" --idempotency-key branch-1`
  const [{ transfer, quota: giver }] = await json(line)
  expect([transfer, giver]).toMatchObject([{ user_id: 60, to_user_id: 61, units: 40 }, { remaining: 60 }])
  expect(await json(line)).toMatchObject([{ transfer: { id: transfer.id } }])
  expect(await json('transfer list --user-id 61')).toMatchObject([{ id: transfer.id, units: 40, returned: 0 }])
  expect(await json(`transfer return ${transfer.id} --units 15`)).toMatchObject([{ transfer: { returned: 15 } }])
  expect(await quota(`transfer return ${transfer.id} --units 26`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('(not_enough_units, request '),
  })
})

test('a destination is paused once under a key, for a user or for all, listed and lifted', async () => {
  const line = 'pause make FR --user-id 62 --message-types otp --reason "Pumped codes" --idempotency-key pause-1'
  const [made] = await json(line)
  expect(made).toMatchObject({ user_id: 62, country: 'FR', message_types: ['otp'], until: null, active: true })
  expect(await json(line)).toEqual([made])
  const [ofAll] = await json('pause make LV --user-id null')
  expect(ofAll).toMatchObject({ user_id: null, country: 'LV' })
  const { stdout } = await quota('pause list --user-id 62 --active true')
  expect(stdout).toMatch(/^ *\d+ +all +LV +- +active +lifted +person .*\n *\d+ +62 +FR +otp +active +lifted +person /m)
  expect(await quota(`pause lift ${made.id}`)).toMatchObject({ code: 0, stdout: `Pause ${made.id} is lifted.\n` })
  await quota(`pause lift ${ofAll.id}`)
  expect(await json('pause list --user-id 62 --active false --country FR')).toMatchObject([
    { id: made.id, active: false },
  ])
  expect(await quota('pause make FR')).toMatchObject({ code: 2, stderr: expect.stringContaining('--user-id') })
})

test('requests for more units are listed, approved and declined, and users see their own', async () => {
  await json('quota create --user-id 64 --limit 100')
  const token = await service.userToken(64)
  const ask = async (units: number) =>
    (await service.call('POST', '/api/sms/quota/requests', { token, body: { units, reason: 'Sale' } })).body.id
  const [first, second] = [await ask(60), await ask(70)]
  expect(await json('request list --user-id 64 --status open')).toMatchObject([{ id: second }, { id: first }])
  const approved = await json(`request approve ${first} --units 30 --note "For the start."`)
  expect(approved).toMatchObject([{ status: 'approved', note: 'For the start.', granted: { units: 30, until: null } }])
  expect(await json(`request approve ${first}`)).toEqual(approved)
  expect(await json(`request decline ${second}`)).toMatchObject([{ status: 'declined' }])
  expect((await quota(`request approve ${second}`)).stderr).toContain('is declined already')
  expect((await quota('request list --user-id 64')).stdout).toMatch(/ 60 +for good +approved +30 +1 +Sale/)
  const own = { env: { ...env, SMS_QUOTA_TOKEN: token } }
  expect(await json('request list --mine', own)).toMatchObject([{ id: second }, { id: first }])
})

test('a replay of the breaker lists what it would have paused', async () => {
  const bucket = new Date(Math.floor(START / 900_000 - 8) * 900_000).toISOString()
  await service.db.query({
    text: sql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
             refunded_messages, denied, denied_messages, verified_messages)
           values ($1, 63, $2, null, 'FR', 'otp', 100, 100, 0, 0, 0, 0, 10)`,
    values: [shardOf(63), bucket],
  })
  expect((await quota('breaker replay --days 7')).stdout).toMatch(/^ *63 +FR +\S+ +\S+ +flight +30 +25 +0 +0 *$/m)
  expect(await quota('breaker replay --flight 100 --hour 100 --day 100 --share 0.25 --json')).toMatchObject({
    code: 0,
    stdout: '',
  })
  expect(await json('breaker set --share 0.25')).toMatchObject([{ budgets: { share: 0.25 } }])
})

describe('what another system calls a user', () => {
  const ref = 'k/1?a=b#%41&ü'
  const named = `ref:${ref}`

  test('is set, and stands in place of the id in each command that names a user', async () => {
    expect(await json(`user update 90 --ref ${ref} --name "Example Ltd" --time-zone Asia/Tokyo`)).toMatchObject([
      { user_id: 90, ref, name: 'Example Ltd', version: 1 },
    ])
    expect(await json(`user update ${named} --time-zone null --if-match 1`)).toMatchObject([
      { ref, name: 'Example Ltd', time_zone: null, version: 2 },
    ])
    expect(await json(`user profile ${named}`)).toMatchObject([{ user_id: 90, version: 2 }])
    const [{ id }] = await json(`quota create --user-id ${named} --limit 5`)
    expect(await json(`quota list --user-id ${named}`)).toMatchObject([{ id, user_id: 90, user_ref: ref }])
    for (const line of ['denials', 'events', 'transfer list', 'reservations'])
      expect(await quota(`${line} --user-id ${named}`), line).toMatchObject({ code: 0 })
    for (const line of [
      'check UNITS',
      'consume m1 UNITS',
      'reserve m2 UNITS',
      'commit m2',
      'refund m2',
      'summary',
      'user',
    ]) {
      const [command = '', ...words] = line.replace('UNITS', '--units 1').split(' ')
      expect(await json([command, named, ...words].join(' ')), line).toMatchObject([{ user_id: 90 }])
    }
    expect(await json(`transfer ${id} ${named} --units 1`)).toMatchObject([
      { transfer: { user_id: 90, to_user_id: 90, to_user_ref: ref } },
    ])
    expect(await json(`plan of ${named}`)).toMatchObject([{ user_id: 90, plan: null }])
    expect(await quota(`plan take ${named}`)).toMatchObject({ code: 0, stdout: `User ${named} has no plan.\n` })
    await quota(`reserve ${named} m3 --units 9`)
    for (const [line, titles, name] of [
      [`quota list --user-id ${named}`, 'id +user_id +user +kind ', 'Example Ltd +grant'],
      [
        `transfer list --user-id ${named}`,
        'id .* user_id +user +quota_id +to_user_id +to_user ',
        'Example Ltd .* Example Ltd ',
      ],
      ['users --all', 'user_id +user +quotas ', 'Example Ltd +'],
      [`denials --user-id ${named}`, 'at +user_id +user +id ', 'Example Ltd +m3 '],
      ['top-users --from 2026-03-01 --to 2026-03-16', 'user_id +user +messages ', 'Example Ltd +2 '],
    ] as const) {
      const { stdout } = await quota(line)
      expect(stdout, line).toMatch(new RegExp(`^ *${titles}.*\\n(?:.*\\n)*? *(?:\\S+ +){0,2}90 +${name}`))
    }
    expect(await json(`usage --user-id ${named} --from 2026-03-15 --to 2026-03-16`)).toMatchObject([
      { total: { committed: { units: 2 } } },
    ])
  })

  test.each([
    ['summary ref:no-user', 1, '(unknown_user, request '],
    ['summary "ref:a b"', 2, '  USER must be '],
    ['quota list --user-id ref:', 2, '  --user-id must be '],
    ['user profile ref:', 2, '  USER must have, after ref:, '],
    ['check ref:no-user --units 1', 1, '(unknown_user, request '],
    ['summary customer-1042', 2, 'USER is a whole number, or ref: and the reference, not "customer-1042"'],
    ['summary ref:x --mine', 2, "--mine is the token's own user: name no other"],
    ['transfer 1 "ref:a b" --units 1', 2, 'USER must have, after ref:, a reference such as '],
    ['transfer 1 ref:no-user --units 1', 1, 'no user has the reference no-user\n'],
    ['transfer 1 customer-1042 --units 1', 2, 'USER is a whole number, or ref: and the reference, not "customer-1042"'],
  ])('%s is refused', async (line, code, message) => {
    expect(await quota(line)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
  })
})

describe('wrong usage ends with 2, and nothing is sent', () => {
  test.each([
    ['qouta list', 'there is no command "qouta"; did you mean quota?'],
    ['list', 'there is no command "list"; did you mean quota list?'],
    ['quota', 'a word is missing after quota: list, get, history, create, update, adjust, delete'],
    [
      'quota lsit',
      'there is no command "quota lsit" among list, get, history, create, update, adjust, delete, bulk, give; did you mean list?',
    ],
    ['quota list --user 7', 'there is no option --user; did you mean --user-id?'],
    ['quota list --stauts active', 'there is no option --stauts; did you mean --status?'],
    [
      'quota list --status activ',
      '--status is one of deleted, expired, suspended, scheduled, exhausted, active, not "activ"; did you mean active?',
    ],
    ['quota list --limit 0', '--limit is a number of rows from 1 to 999999999, or give --all, not "0"'],
    ['quota list --limit 1 --all', 'give --limit or --all, not both'],
    ['quota list --mine --user-id 7', "--mine is the token's own user: name no other"],
    ['quota get', 'ID is missing'],
    ['quota get x', 'ID is a whole number, not "x"'],
    ['quota get 1 2', '"2" is not expected here'],
    ['breaker replay --share much', '--share is a number such as 0.3, not "much"'],
    ['quota create --limit 1', 'missing: --user-id'],
    ['quota create --user-id 07', '--user-id is a whole number, or ref: and the reference, not "07"'],
    ['quota create --limit many', '--limit is a whole number, or null, not "many"'],
    [
      'quota create --period moth',
      '--period is one of minute, hour, day, week, month, year, null, not "moth"; did you mean month?',
    ],
    [
      'quota create --starts-at tomorrow',
      '--starts-at is a time such as 2026-03-01T12:00:00Z, a day such as 2026-03-01, not "tomorrow"',
    ],
    ['quota create --starts-at 2026-02-30', '--starts-at is a time'],
    ['quota create --starts-at 2026-12-31T23:59:60', '--starts-at is a time'],
    ['quota create --starts-at 2026-12-31T23:59:60Z', '--starts-at is a time'],
    [
      'quota create --time-zone Mars',
      '--time-zone is the name of an IANA time zone, such as Europe/Berlin, not "Mars"',
    ],
    ['quota create --metadata contract', '--metadata is a key and a value, as in contract=K-1042, not "contract"'],
    ['quota create --except-countries DE,xx', '--except-countries must be a list of some countries, such as DE, AT'],
    ['quota create --except-countries ""', '--except-countries must be a list of some countries'],
    ['quota create --except-countries DE --countries AT', '--except-countries cannot be combined with countries'],
    ['quota create --alert-at 50,x', '--alert-at is a whole number, not "x"'],
    ['quota update 1 --enabled maybe', '--enabled is one of true, false, not "maybe"'],
    ['quota update 1 --if-match v3', '--if-match is a version, such as 3, not "v3"'],
    ['quota update 1 --period day', 'there is no option --period'],
    ['quota update 1 --anchor 15', 'there is no option --anchor'],
    ['quota adjust 1 --delta --reason x', '--delta needs a value: --delta NUMBER'],
    ['summary', 'USER is missing; or give --mine\n'],
    ['denial --mine', 'DENIAL_ID is missing\n'],
    ['search ""', 'TEXT is missing\n'],
    ['reservations --older-than 1h', '--older-than is a whole number, not "1h"'],
    ['reservations --state open', '--state is one of reserved, committed, refunded, expired, released, not "open"'],
    ['events --types quota.create', 'not "quota.create"; did you mean quota.created?'],
    ['events --follow --all', '--follow has no end: give no --limit and no --all'],
    ['events --after latest --last 1', 'give --after or --last, not both'],
    ['completion bsh', 'SHELL is one of bash, zsh, fish, not "bsh"; did you mean bash?'],
    ['whoami --url sms.example', '--url is the address of the service, such as http://127.0.0.1:8080'],
    ['whoami --token ""', 'a token is missing: set SMS_QUOTA_TOKEN'],
    ['whoami --token "a b"', 'the token contains a space'],
    ['whoami --profile x --url http://x', 'give --profile, or --url and --token, not both'],
  ])('%s', async (line, message) => {
    const { code, stdout, stderr } = await quota(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/\nUsage: sms-quota .*\nRun "sms-quota.* --help" for more\.\n$/)
  })
})

describe('what the service refuses', () => {
  test('fields are named as on the command line, all at once', async () => {
    const { code, stderr } = await quota('quota create --user-id 7 --limit=-1 --priority 256 --countries XX')
    expect(code).toBe(2)
    expect(stderr).toMatch(/^sms-quota: Invalid request:\n {2}--\S+ must/)
    for (const name of ['--limit', '--priority', '--countries'])
      expect(stderr).toMatch(new RegExp(`\n  ${name} .*not `))
    expect(stderr).toMatch(/\n\(invalid_request, request \S+\)\n$/)
  })

  test('operands and the parts of a message are named, too', async () => {
    expect((await quota('reserve 7 :x --units 1')).stderr).toMatch(/\n {2}ID must/)
    const { stderr } = await quota('check 7 --to 0151 --text secret')
    expect(stderr).toMatch(/\n {2}--to must/)
    expect(stderr).not.toMatch(/0151|secret/)
  })

  test('other errors have a title, a detail and a code', async () => {
    expect(await quota('quota get 999999')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^sms-quota: Not found: Quota 999999 does not exist\.\n\(not_found, request \S+\)\n$/,
      ),
    })
  })

  test('a token that is not accepted', async () => {
    const bad = { env: { ...env, SMS_QUOTA_TOKEN: 'abc.def.ghi' } }
    expect(await quota('whoami', bad)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(
        /^sms-quota: the service at http\S+ does not accept the token\nNot authenticated: /,
      ),
    })
  })
})

test('no output of any command contains a token', () => {
  expect(outputs.length).toBeGreaterThan(100)
  for (const secret of [token, ownToken, supportToken, 'abc.def.ghi']) {
    expect(outputs.filter(text => text.includes(secret))).toEqual([])
  }
})

describe('plans', () => {
  test('are listed, shown, given to a user and taken away', async () => {
    const slots = [{ slot: 'monthly', limit: 1000, period: 'month' }]
    const plan = (await service.call('POST', '/api/sms/admin/plans', { body: { name: 'Basic', slots } })).body
    expect((await quota('plan list')).stdout).toMatch(
      /^ *id +version +name +is_default +updated_at +updated_by\n *1 +1 +Basic +(?:no|false) /,
    )
    expect(await json(`plan get ${plan.id}`)).toMatchObject([{ name: 'Basic', slots, users: [] }])
    expect(await json(`plan give 4242 ${plan.id}`)).toMatchObject([
      { user_id: 4242, plan: { name: 'Basic' }, slots: [{ slot: 'monthly', outcome: 'made' }] },
    ])
    expect(await json('plan give 4242 Basic --reset')).toMatchObject([{ slots: [{ outcome: 'stays' }] }])
    expect(await json('plan get Basic')).toEqual(await json(`plan get ${plan.id}`))
    expect(await json('quota list --plan-id Basic')).toMatchObject([{ user_id: 4242 }])
    expect((await quota('quota list --plan-id Basic')).stdout).toMatch(/ period +plan\n.* month +Basic: monthly\n$/)
    for (const [line, message] of [
      ['plan get basic', 'no plan has the name basic; did you mean Basic?'],
      ['plan give 4242 0.5', 'no plan has the name 0.5'],
    ] as const)
      expect(await quota(line), line).toEqual({ code: 1, stdout: '', stderr: `sms-quota: ${message}\n` })
    expect(await json('plan of 4242')).toMatchObject([{ plan: { id: plan.id, version: 1 } }])
    const [{ id }] = await json('quota list --plan-id Basic')
    await service.call('PUT', `/api/sms/admin/plans/${plan.id}`, { body: { slots: [{ ...slots[0], limit: 2000 }] } })
    await json('plan give 4242 Basic')
    expect((await quota(`quota history ${id}`)).stdout).toMatch(
      / limit 1000 → 2000, plan Basic, version 1 → Basic, version 2\n/,
    )
    expect(await quota('plan take 4242')).toMatchObject({ code: 0, stdout: 'User 4242 has no plan.\n' })
    expect(await json('plan of 4242')).toMatchObject([{ plan: null }])
    expect(await quota('plan give 4242 99')).toMatchObject({ code: 1, stderr: expect.stringContaining('Plan 99') })
  })
})
