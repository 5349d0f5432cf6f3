/** `verify` and `config --check` as processes. What they find and print is in `test/cli/` and `test/db/`. */
import { describe, expect, test } from 'vitest'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { emptyDatabase } from '../support/database.ts'
import { createSite } from '../support/process.ts'

const [site, empty] = [await createSite({ prepared: true }), await createSite()]
const withoutSchema = await emptyDatabase()
const run = (args: string[], env: Record<string, string> = {}) => site.launch(['verify', ...args], env).ended

test('verify prints why it cannot run', async () => {
  expect(await run(['--user', 'ada'], { DATABASE_URL: withoutSchema.url })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--user is'),
  })
  const unreachable = await run([], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' })
  expect(unreachable).toMatchObject({ code: 1, stdout: '' })
  expect(unreachable.stderr).toMatch(
    /^sms-quota: cannot verify: the database of DATABASE_URL cannot be used: .*REFUSED.*\n$/,
  )
  expect(unreachable.stderr).not.toContain('hunter2')
  const noSchema = await run([], { DATABASE_URL: withoutSchema.url })
  expect(noSchema).toMatchObject({ code: 1, stdout: '' })
  expect(noSchema.stderr).toMatch(/does not have the schema of this version; run "sms-quota migrate"\n$/)
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

  test('and config --check work while the service runs; while it does not, the check starts no database', async () => {
    const service = await site.start()
    const body = { user_id: 7, limit: 10, opening_used: 3 }
    expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
    expect(await run([])).toEqual(EQUAL)
    const checked = await site.launch(['config', '--check']).ended
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    expect(checked.stdout).toMatch(/\nThe database fits\.\n$/)
    expect(await service.stop()).toMatchObject({ code: 0 })

    const stopped = await site.launch(['config', '--check']).ended
    expect(stopped).toMatchObject({ code: 0, stderr: '' })
    expect(stopped.stdout).toContain(
      `\n\nThe database in ${site.dataDir} does not run; the service checks it when it starts.\n`,
    )
    expect(await site.postmaster()).toBeUndefined()

    expect(await run([])).toEqual(EQUAL)
    expect(await connectionOf(site.dataDir)).toBeUndefined()
    expect(await site.postmaster()).toBeUndefined()
  })
})
