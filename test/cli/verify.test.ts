/** What `verify` prints. `test/process/backup-commands.long.test.ts` starts the command, `test/db/verify.test.ts` has all differences. */
import { describe, expect, test } from 'vitest'
import { reportFailure } from '../../src/cli/on-database.ts'
import { verifyOn } from '../../src/cli/verify.ts'
import { loadConfig } from '../../src/config/config.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { readableColumns } from '../../src/db/verify/readable.ts'
import { emptyDatabase } from '../support/database.ts'
import { createBench, draw, someone } from '../support/engine.ts'
import { printed } from '../support/printed.ts'

describe('verify', async () => {
  const bench = await createBench()
  const run = (user: number | null = null) => printed(() => verifyOn(bench.url, user))
  const [one, other] = [someone(), someone()]

  test('prints how much it compared if there is no difference', async () => {
    const engine = bench.engine()
    for (const user_id of [one, other]) {
      await bench.quota({ user_id })
      await engine.submit(draw('consume', user_id, 'm', 3))
    }
    const readable = 65 * (await readableColumns(bench.db)).length
    const stdout = `
  readable   ${readable} columns of shards: the service can read their times, numbers and time zones
  counters   2 windows: used and reserved equal the reservations and the archive
  limits     2 limited windows: none is past its limit but by force, overage or a lowered limit
  draws      2 reservations: their draws cover their units
  rollover   0 closed windows: what they carried is what the next window began with
  usage      2 quotas: usage reports what their windows used
  transfers  0 transfers: giver and receiver have what moved and what came back
  live       2 accounts: their numbers of unexpired quotas are right
  plans      0 quotas of plans: they are what the plans say, but for changes by hand
  values     0 counters of recipients, countries and tags: of the open windows, they equal the reservations
  profiles   0 references: they name the users whose profiles have them
  sequences  2 events of users: their sequences have no gap
  totals     2 quotas: they are as many as the totals of their shards
  events     2 events: their numbers have no gap
No difference.
`.slice(1)
    expect(await run()).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('prints the differences of all users or of one', async () => {
    const [row] = await bench.db.query<{ id: number }>({
      text: sql`update quota set used = 4 where user_id = $1 returning id`,
      values: [one],
    })
    const differences = `Quota ${row?.id} of user ${one}, window 0: counted 4 used and 0 reserved, its ledger has 3 used and 0 reserved.
Quota ${row?.id} of user ${one}: usage reports 3 units, and its windows used 4, of which 0 were used before its creation.
`
    const ofAll = await run()
    expect(ofAll).toMatchObject({ code: 1, stderr: '' })
    expect(ofAll.stdout.slice(0, differences.length)).toBe(differences)
    expect(ofAll.stdout).toContain('  counters   2 windows: 1 difference\n')
    expect(ofAll.stdout).toContain('  draws      2 reservations: their draws cover their units\n')
    expect(ofAll.stdout).toMatch(/\n2 differences\.\n$/)

    const ofOne = await run(one)
    expect(ofOne).toMatchObject({ code: 1, stderr: '' })
    expect(ofOne.stdout.slice(0, differences.length)).toBe(differences)
    expect(ofOne.stdout).toContain('  totals     not checked: it concerns no single user\n')
    expect(ofOne.stdout).toMatch(/\n2 differences for user \d+\.\n$/)

    const ofOther = await run(other)
    expect(ofOther).toMatchObject({ code: 0, stderr: '' })
    expect(ofOther.stdout).toMatch(/\nNo difference for user \d+\.\n$/)
  })

  test('prints what is not provable, which is no failure', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await bench.db.query({ text: sql`update account set live_at = null where user_id = $1`, values: [user] })
    const { code, stdout } = await run(user)
    expect(code).toBe(0)
    expect(stdout).toContain(`
  transfers  0 transfers: giver and receiver have what moved and what came back
  live       1 accounts: their numbers of unexpired quotas are right
             not provable: 1, because an earlier version did not record when it counted`)
  })

  test('says why it cannot run, and nothing of the password', async () => {
    const failure = (url: string) => {
      const loaded = loadConfig({ DATABASE_URL: url, DATABASE_TLS: 'off' }, { needsKey: false })
      if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
      return printed(() => reportFailure('verify', loaded.config, () => verifyOn(url, null)))
    }
    const unreachable = await failure('postgres://u:hunter2@127.0.0.1:1/d')
    expect(unreachable).toMatchObject({ code: 1, stdout: '' })
    expect(unreachable.stderr).toMatch(
      /^sms-quota: cannot verify: the database of DATABASE_URL cannot be used: .*REFUSED.*\n$/,
    )
    expect(unreachable.stderr).not.toContain('hunter2')
    const noSchema = await failure((await emptyDatabase()).url)
    expect(noSchema).toMatchObject({ code: 1, stdout: '' })
    expect(noSchema.stderr).toMatch(/does not have the schema of this version; run "sms-quota migrate"\n$/)
  })
})
