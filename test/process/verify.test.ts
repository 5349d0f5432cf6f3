import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { emptyDatabase } from '../support/database.ts'
import { createBench, draw, someone } from '../support/engine.ts'
import { createSite } from '../support/process.ts'

const [site, empty] = [await createSite({ prepared: true }), await createSite()]
const run = (args: string[], env: Record<string, string> = {}) => site.launch(['verify', ...args], env).ended

describe('verify of an external database', async () => {
  const bench = await createBench()
  const env = { DATABASE_URL: bench.url }
  const [one, other] = [someone(), someone()]

  test('prints how much it compared if there is no difference', async () => {
    const engine = bench.engine()
    for (const user_id of [one, other]) {
      await bench.quota({ user_id })
      await engine.submit(draw('consume', user_id, 'm', 3))
    }
    const stdout = `
  counters   2 windows: used and reserved equal the reservations and the archive
  limits     2 limited windows: none is past its limit but by force, overage or a lowered limit
  draws      2 reservations: their draws cover their units
  rollover   0 closed windows: what they carried is what the next window began with
  usage      2 quotas: usage reports what their windows used
  live       2 accounts: their numbers of unexpired quotas are right
  sequences  2 events of users: their sequences have no gap
  totals     2 quotas: they are as many as the totals of their shards
  events     2 events: their numbers have no gap
No difference.
`.slice(1)
    expect(await run([], env)).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('prints the differences of all users or of one', async () => {
    const [row] = await bench.db.query<{ id: number }>({
      text: sql`update quota set used = 4 where user_id = $1 returning id`,
      values: [one],
    })
    const differences = `Quota ${row?.id} of user ${one}, window 0: counted 4 used and 0 reserved, its ledger has 3 used and 0 reserved.
Quota ${row?.id} of user ${one}: usage reports 3 units, and its windows used 4, of which 0 were used before its creation.
`
    const ofAll = await run([], env)
    expect(ofAll).toMatchObject({ code: 1, stderr: '' })
    expect(ofAll.stdout.slice(0, differences.length)).toBe(differences)
    expect(ofAll.stdout).toContain('  counters   2 windows: 1 difference\n')
    expect(ofAll.stdout).toContain('  draws      2 reservations: their draws cover their units\n')
    expect(ofAll.stdout).toMatch(/\n2 differences\.\n$/)

    const ofOne = await run(['--user', `${one}`], env)
    expect(ofOne).toMatchObject({ code: 1, stderr: '' })
    expect(ofOne.stdout.slice(0, differences.length)).toBe(differences)
    expect(ofOne.stdout).toContain('  totals     not checked: it concerns no single user\n')
    expect(ofOne.stdout).toMatch(/\n2 differences for user \d+\.\n$/)

    const ofOther = await run(['--user', `${other}`], env)
    expect(ofOther).toMatchObject({ code: 0, stderr: '' })
    expect(ofOther.stdout).toMatch(/\nNo difference for user \d+\.\n$/)
  })

  test('prints what is not provable, which is no failure', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await bench.db.query({ text: sql`update account set live_at = null where user_id = $1`, values: [user] })
    const { code, stdout } = await run(['--user', `${user}`], env)
    expect(code).toBe(0)
    expect(stdout).toContain(`
  live       1 accounts: their numbers of unexpired quotas are right
             not provable: 1, because an earlier version did not record when it counted`)
  })

  test('prints why it cannot run', async () => {
    expect(await run(['--user', 'ada'], env)).toMatchObject({ code: 2, stderr: expect.stringContaining('--user is') })
    const unreachable = await run([], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' })
    expect(unreachable).toMatchObject({ code: 1, stdout: '' })
    expect(unreachable.stderr).toMatch(
      /^sms-quota: cannot verify: the database of DATABASE_URL cannot be used: .*REFUSED.*\n$/,
    )
    expect(unreachable.stderr).not.toContain('hunter2')
    const noSchema = await run([], { DATABASE_URL: (await withoutSchema).url })
    expect(noSchema).toMatchObject({ code: 1, stdout: '' })
    expect(noSchema.stderr).toMatch(/does not have the schema of this version; run "sms-quota migrate"\n$/)
  })

  const withoutSchema = emptyDatabase()
})

describe('verify of the embedded database', () => {
  const EQUAL = { code: 0, stdout: expect.stringMatching(/\nNo difference\.\n$/), stderr: '' }

  test('fails if there is none', async () => {
    const { code, stdout, stderr } = await empty.launch(['verify']).ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `sms-quota: cannot verify: there is no database in ${empty.dataDir}; set DATABASE_URL, or DATA_DIR to the folder of the service\n`,
    )
  })

  test('works while the service runs, and while it does not', async () => {
    const service = await site.start()
    const body = { user_id: 7, limit: 10, opening_used: 3 }
    expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
    expect(await run([])).toEqual(EQUAL)
    expect(await service.stop()).toMatchObject({ code: 0 })

    expect(await run([])).toEqual(EQUAL)
    expect(await connectionOf(site.dataDir)).toBeUndefined()
    expect(await site.postmaster()).toBeUndefined()
  })
})
