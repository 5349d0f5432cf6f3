import { describe, expect, test } from 'vitest'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { emptyDatabase } from '../support/database.ts'
import { createBench, draw, someone } from '../support/engine.ts'
import { createSite } from '../support/process.ts'

const site = await createSite()
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
    const stdout = 'All 2 windows of 2 quotas equal their ledger (2 reservations).\n'
    expect(await run([], env)).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('prints the differences of all users or of one', async () => {
    const [row] = await bench.db.query<{ id: number }>({
      text: 'update quota set used = 4 where user_id = $1 returning id',
      values: [one],
    })
    const difference = `Quota ${row?.id} of user ${one}, window 0: counted 4 used and 0 reserved, its ledger has 3 used and 0 reserved.\n`
    expect(await run([], env)).toEqual({
      code: 1,
      stdout: `${difference}1 difference in 2 windows of 2 quotas.\n`,
      stderr: '',
    })
    expect(await run(['--user', `${one}`], env)).toEqual({
      code: 1,
      stdout: `${difference}1 difference in 1 windows of 1 quotas of user ${one}.\n`,
      stderr: '',
    })
    const stdout = `All 1 windows of 1 quotas of user ${other} equal their ledger (1 reservations).\n`
    expect(await run(['--user', `${other}`], env)).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('prints why it cannot run', async () => {
    expect(await run(['--user', 'ada'], env)).toMatchObject({ code: 2, stderr: expect.stringContaining('--user is') })
    const unreachable = await run([], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' })
    expect(unreachable).toMatchObject({ code: 1, stdout: '' })
    expect(unreachable.stderr).toMatch(
      /^sms-quota: cannot verify: the database of DATABASE_URL cannot be used: .*REFUSED.*\n$/,
    )
    expect(unreachable.stderr).not.toContain('hunter2')
    const noSchema = await run([], { DATABASE_URL: (await empty).url })
    expect(noSchema).toMatchObject({ code: 1, stdout: '' })
    expect(noSchema.stderr).toMatch(/does not have the schema of this version; run "sms-quota migrate"\n$/)
  })

  const empty = emptyDatabase()
})

describe('verify of the embedded database', () => {
  const EQUAL = 'All 1 windows of 1 quotas equal their ledger (1 reservations).\n'

  test('fails if there is none', async () => {
    const { code, stdout, stderr } = await run([])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `sms-quota: cannot verify: there is no database in ${site.dataDir}; set DATABASE_URL, or DATA_DIR to the folder of the service\n`,
    )
  })

  test('works while the service runs, and while it does not', async () => {
    const service = await site.start()
    const body = { user_id: 7, limit: 10, opening_used: 3 }
    expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
    expect(await run([])).toEqual({ code: 0, stdout: EQUAL, stderr: '' })
    expect(await service.stop()).toMatchObject({ code: 0 })

    expect(await run([])).toEqual({ code: 0, stdout: EQUAL, stderr: '' })
    expect(await connectionOf(site.dataDir)).toBeUndefined()
    expect(await site.postmaster()).toBeUndefined()
  })
})
