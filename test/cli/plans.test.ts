/** The commands `plan apply` and `plan roll-out`, against a service that listens. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota plans '))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken }
const PLANS = '/api/sms/admin/plans'

/** Runs `plan` with these words. The id of a roll-out is random, so it is left out. */
async function plan(words: readonly string[], options: Partial<Terminal> = {}) {
  const { code, stdout, stderr } = await run(['plan', ...words], { env, ...options })
  return { code, stdout, stderr: stderr.replace(/bulk-[0-9a-f-]{36}/g, 'BULK') }
}

/** Answers each question, and keeps the last one. */
function answering(answer: string) {
  const asked = {
    question: '',
    async ask(question: string) {
      asked.question = question
      return answer
    },
  }
  return asked
}

const file = join(folder, 'plan.yaml')
async function apply(text: string, ...words: string[]) {
  await writeFile(file, text)
  return plan(['apply', file, ...words])
}
const done = (stdout: string, stderr = '') => ({ code: 0, stdout, stderr })
const idOf = ({ stdout }: { stdout: string }) => Number(/^Plan (\d+) is created\.$/m.exec(stdout)?.[1])
const planOf = async (id: number) => (await service.call('GET', `${PLANS}/${id}`)).body

const basic = (name: string, limit = 1000) => `name: ${name}
slots:
  - {slot: monthly, limit: ${limit}, period: month, metadata: {cost_center: x}}
  - {slot: daily, kind: cap, limit: 200, period: day}
`
const DRY = '(dry run: nothing was changed)\n'

test('a file makes a plan and changes it, and the same file again changes nothing', async () => {
  const shown = `New plan Files:
  slot monthly: new, limit 1000, period month, metadata {"cost_center":"x"}
  slot daily: new, kind cap, limit 200, period day
`
  expect(await apply(basic('Files'), '--dry-run')).toEqual(done(shown + DRY))
  const created = await apply(basic('Files'), '--yes')
  const id = idOf(created)
  const give = `To give it to a user: sms-quota plan give USER ${id}\n`
  expect(created).toEqual(done(`${shown}Plan ${id} is created.\n`, give))
  expect(await planOf(id)).toMatchObject({ name: 'Files', version: 1, slots: [{ metadata: { cost_center: 'x' } }, {}] })
  const same = done(`Plan ${id} is as the file says.\n`)
  for (const words of [['--yes'], ['--dry-run']]) expect(await apply(basic('Files'), ...words)).toEqual(same)
  expect(await plan(['apply', file], answering('n'))).toEqual(same)

  const changes = `Plan ${id}, Files, version 1:\n  slot monthly: limit 1000 → 1500\n`
  await writeFile(file, basic('Files', 1500))
  expect(await plan(['apply', file], answering('n'))).toEqual({ ...done(changes, 'Nothing was changed.\n'), code: 1 })
  const yes = answering('y')
  const next = `To give it to those who have an older version: sms-quota plan roll-out ${id}\n`
  const changed = done(`${changes}Plan ${id} is changed. It has version 2.\n`, next)
  expect(await plan(['apply', file], yes)).toEqual(changed)
  expect(yes.question).toBe(`Change plan ${id}? [y/N] `)
  // By its id, a plan can be renamed. To become the default is no new version.
  expect(await apply(`id: ${id}\n${basic('Renamed', 1500)}`, '--yes')).toMatchObject({ code: 0 })
  expect(await apply(`${basic('Renamed', 1500)}is_default: true\n`, '--yes')).toEqual(
    done(`Plan ${id}, Renamed, version 3:\n  is_default false → true\nPlan ${id} is changed. It has version 3.\n`),
  )
  expect(await planOf(id)).toMatchObject({ name: 'Renamed', version: 3, is_default: true })
  // There is one default plan, and a name in other letters is another one.
  await writeFile(file, `${basic('renamed')}is_default: true\n`)
  const no = answering('n')
  expect((await plan(['apply', file], no)).stdout).toContain(`  plan ${id}, Renamed, is no longer the default\n`)
  expect(no.question).toBe(`Plan ${id} is called Renamed. Create the plan renamed? [y/N] `)
})

test('what was changed since it was shown is not overwritten', async () => {
  const id = idOf(await apply(basic('Raced'), '--yes'))
  await writeFile(file, basic('Raced', 2000))
  const ask = async () => {
    await service.call('PUT', `${PLANS}/${id}`, { body: { name: 'Raced', slots: [{ slot: 'monthly', limit: 5 }] } })
    return 'y'
  }
  const { code, stderr } = await plan(['apply', file], { ask })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('The plan now has version 2.') })
  expect(await planOf(id)).toMatchObject({ version: 2, slots: [{ limit: 5 }] })
})

test('a version that was made since a roll-out was shown is not given', async () => {
  const id = idOf(await apply(basic('Rolled late'), '--yes'))
  const ask = async () => {
    await service.call('PUT', `${PLANS}/${id}`, { body: { name: 'Changed' } })
    return 'y'
  }
  const { code, stdout, stderr } = await plan(['roll-out', String(id), '--users', '11'], { ask })
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/\(dry run: nothing was changed\)\n$/) })
  expect(stderr).toContain('The plan now has version 2.')
  expect((await planOf(id)).users).toEqual([])
})

test('a creation whose answer was lost is repeated with its key', async () => {
  const words = ['--yes', '--idempotency-key', 'plan-once']
  const id = idOf(await apply(basic('Once'), ...words))
  await service.call('PUT', `${PLANS}/${id}`, { body: { name: 'Once, renamed' } })
  expect(idOf(await apply(basic('Once'), ...words))).toBe(id)
})

test('a file that does not say which plan is refused', async () => {
  const [one, two] = [idOf(await apply(basic('Twin'), '--yes')), idOf(await apply(basic('Twin 2'), '--yes'))]
  await service.call('PUT', `${PLANS}/${two}`, { body: { name: 'Twin' } })
  const refused = async (text: string, message: string, code = 2) => {
    const { stderr, ...outcome } = await apply(text, '--yes')
    expect({ ...outcome, stderr: stderr.split('\n').slice(0, 1) }).toEqual({ code, stdout: '', stderr: [message] })
  }
  await refused(
    basic('Twin'),
    `sms-quota: 2 plans have the name Twin: ${two}, ${one}. Say which in ${file}, as in "id: ${one}"`,
  )
  const { stderr } = await plan(['get', 'Twin'])
  expect(stderr).toContain(`sms-quota: 2 plans have the name Twin: ${two}, ${one}. Give the id of one\n`)
  await service.call('DELETE', `${PLANS}/${two}`)
  expect(await apply(basic('Twin'), '--yes')).toEqual(done(`Plan ${one} is as the file says.\n`))
  await refused(
    `id: ${two}\n${basic('Twin')}`,
    `sms-quota: plan ${two} is archived; without the id, ${file} makes a new one`,
  )
  await refused(`id: 999999\n${basic('Twin')}`, 'sms-quota: Not found: Plan 999999 does not exist.', 1)
  await refused('name: Twin\nslots: 7\n', `sms-quota: ${file} cannot be used:`)
  const asking = await plan(['apply', file.replace('plan.yaml', 'none'), '--yes'])
  expect(asking).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read (ENOENT)') })
})

test('a roll-out shows who would change, asks, and gives the version', async () => {
  const id = idOf(await apply(basic('Rolled'), '--yes'))
  const users = '7,8,ref:nine,9'
  await service.call('PUT', '/api/sms/admin/users/9/profile', { body: { ref: 'nine' } })
  expect(await plan(['roll-out', 'Rolled', '--users', users, '--yes'])).toEqual(
    done(
      'users: changed 3, unchanged 0, refused 0\nquotas: made 6, changed 0, ended 0\n',
      'The audit shows the changes under the request BULK.\n',
    ),
  )
  const quotas = (await service.call('GET', '/api/sms/admin/users/7/plan')).body.slots
  await service.call('PUT', `/api/sms/admin/quota/${quotas[0].quota_id}`, { body: { limit: 5000 } })
  const send = { user_id: 8, id: 'm1', units: 150 }
  await service.call('POST', '/api/sms/sender/quota/consume', { token: service.senderToken, body: send })
  await apply(
    `${basic('Rolled', 100).replace(/ {2}- \{slot: daily.*\n/, '')}  - {slot: trial, limit: 5, lasts_days: 30}\n`,
    '--yes',
  )

  const preview = [
    'user_id  change',
    '      7  monthly stays (keeps limit 5000), trial made, 1 quota ended',
    '      8  monthly changed (limit 1000 → 100), trial made, 1 quota ended',
    '      9  monthly changed (limit 1000 → 100), trial made, 1 quota ended',
    'users: changed 3, unchanged 0, refused 0',
    'quotas: made 3, changed 2, ended 3',
    '1 quota with changes by hand that stay',
    '1 user with nothing left in a quota',
    DRY,
  ].join('\n')
  const nothingLeft = 'user 8: nothing left in monthly\n'
  expect(await plan(['roll-out', String(id), '--dry-run'])).toEqual(done(preview, nothingLeft))
  const yes = answering('y')
  const rolled = ['roll-out', String(id), '--reason', 'Spring offer', '--idempotency-key', 'rolled-2']
  const result = await plan(rolled, yes)
  expect(yes.question).toBe('Give version 2 of Rolled to 3 users, which makes, changes or ends 8 quotas? [y/N] ')
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(`${DRY}users: changed 3, `) })
  expect((await planOf(id)).users).toEqual([{ version: 2, users: 3 }])
  const ids = Array.from({ length: 7 }, (_, n) => 30 + n).join()
  const more = await plan(['roll-out', String(id), '--users', ids, '--dry-run'])
  expect(more.stdout).toMatch(/\n +34 {2}monthly made, trial made\nthe first 5 of 7 users\nusers: changed 7, /)
  // Who has the version is not among those who are meant any more.
  const again = await plan([...rolled, '--yes'])
  expect(again).toEqual(done('users: changed 0, unchanged 0, refused 0\nquotas: made 0, changed 0, ended 0\n'))
  const json = await plan(['roll-out', String(id), '--users', users, '--yes', '--json'])
  expect(
    json.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).record),
  ).toEqual(['begin', 'end'])
})

test('a roll-out that does not reach all ends with 1, and says what is wrong', async () => {
  const id = idOf(await apply(basic('Refused'), '--yes'))
  const rows = Array.from({ length: 199 }, (_, n) => JSON.stringify({ user_id: 20, external_ref: `r${n}`, limit: 1 }))
  const headers = { 'content-type': 'application/x-ndjson' }
  await service.call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  const { code, stdout, stderr } = await plan(['roll-out', String(id), '--users', '20,21', '--yes'])
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: 'users: changed 1, unchanged 0, refused 1\nquotas: made 2, changed 0, ended 0\n',
  })
  expect(stderr).toMatch(/^user 20: .* 200 /)
  for (const [words, message] of [
    [[String(id), '--users', 'x'], '--users is a whole number, or ref: and the reference, not "x"'],
    [[String(id), '--users', '7', '--from-plan', '1'], '--users cannot be combined with from_plan'],
    [[String(id), '--from-version', '0'], '--from-version must be'],
  ] as const) {
    const refused = await plan(['roll-out', ...words, '--yes'])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  }
  for (const [words, message] of [
    [['999999'], 'Plan 999999 does not exist.'],
    [['x'], 'sms-quota: no plan has the name x\n'],
    [[String(id), '--from-plan', 'x'], 'sms-quota: no plan has the name x\n'],
    [[String(id), '--users', '7,ref:a,ref:b'], 'sms-quota: no user has one of these references:\n  a\n  b\n'],
  ] as const) {
    const refused = await plan(['roll-out', ...words, '--yes'])
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
  }
})

test('a roll-out says what counts on in new quotas, and with --fresh who gets it twice', async () => {
  const joined = (anchor: string) => `name: Days\nslots:\n  - {slot: monthly, limit: 1000, period: month${anchor}}\n`
  const id = idOf(await apply(joined(''), '--yes'))
  await plan(['give', '31', String(id)])
  const body = { user_id: 31, id: 'm-1', units: 700 }
  await service.call('POST', '/api/sms/sender/quota/consume', { token: service.senderToken, body })
  service.clock.now += 1_000
  const changed = await apply(joined(', anchor: joined'), '--yes')
  expect(changed.stdout).toContain('slot monthly: anchor null → joined')

  const dry = await plan(['roll-out', String(id), '--dry-run'])
  expect(dry.stderr).toBe('user 31: begins with 700 used in monthly\n')
  expect(dry.stdout).toContain('1 user with units used before that count in a new quota\n')
  const fresh = await plan(['roll-out', String(id), '--dry-run', '--fresh'])
  expect(fresh.stderr).toBe('user 31: gets again 700 used in monthly\n')
  expect(fresh.stdout).toContain('1 user with units used before that they get again\n')
  expect((await plan(['roll-out', String(id), '--yes'])).stdout).toContain('quotas: made 1, changed 0, ended 1\n')
  const [quota] = (await service.call('GET', '/api/sms/admin/quota/list?user_id=31')).body.items
  expect(quota).toMatchObject({ used: 700, anchor: String(new Date(service.clock.now).getUTCDate()) })
})
