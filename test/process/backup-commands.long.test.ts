/** `backup`, `restore`, `verify` and `config --check` as processes. What they find and print is in `test/cli/` and `test/db/`. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { exists } from '../../src/db/embedded/folders.ts'
import { createSite } from '../support/process.ts'

describe('commands beside the running service and without it', async () => {
  const [site, other] = [await createSite({ prepared: true }), await createSite()]
  const folder = join(site.dataDir, '..', 'backups')
  let file = ''

  const run = (...args: string[]) => site.launch(args).ended
  const equal = (of = '') => ({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`\nNo difference${of}\\.\n$`)),
    stderr: '',
  })

  test('beside it, back up into a file that only its owner can read, verify, and check', async () => {
    await mkdir(folder)
    const service = await site.start()
    for (const user_id of [1, 2]) {
      const body = { user_id, limit: 5, opening_used: 3 }
      expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
    }
    const [written, verified, checked] = await Promise.all([
      run('backup', folder),
      run('verify', '--user', '2'),
      run('config', '--check'),
    ])
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toMatch(/^\S+\.backup: \d+ rows of \d+ tables, .*\nThe keys in \S+ are not in it/)
    const [name = ''] = await readdir(folder)
    file = join(folder, name)
    expect(name).toMatch(/^sms-quota-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(verified).toEqual(equal(' for user 2'))
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nThe database fits\.\n$/), stderr: '' })
    expect(await service.stop()).toMatchObject({ code: 0 })
  })

  test('without it, the check starts no database, and verify does for as long as it needs it', async () => {
    expect(await run('config', '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        `\n\nThe database in ${site.dataDir} does not run; the service checks it when it starts.\n`,
      ),
      stderr: '',
    })
    expect(await site.postmaster()).toBeUndefined()
    expect(await run('verify')).toEqual(equal())
    expect(await connectionOf(site.dataDir)).toBeUndefined()
    expect(await site.postmaster()).toBeUndefined()
  })

  test('verify fails if there is no database', async () => {
    const { code, stdout, stderr } = await other.launch(['verify']).ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `sms-quota: cannot verify: there is no database in ${other.dataDir}; set DATABASE_URL, or DATA_DIR to the folder of the service\n`,
    )
  })

  test('a backup overwrites nothing, and leaves no partial file', async () => {
    const before = await readFile(file)
    const { code, stderr } = await site.launch(['backup', file]).ended
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/exists: a backup overwrites nothing/),
    })
    expect(await readFile(file)).toEqual(before)
    expect(await readdir(folder)).toHaveLength(1)
  })

  test('a restore refuses a damaged file before a database is made', async () => {
    const bytes = await readFile(file)
    await writeFile(join(folder, 'damaged'), bytes.subarray(0, bytes.length / 2))
    const { code, stderr } = await other.launch(['restore', join(folder, 'damaged')]).ended
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/damaged cannot be used: it ends too early/),
    })
    expect(await exists(join(other.dataDir, 'database'))).toBe(false)
  })

  test('a restore makes a new data folder, verifies it, and the service serves it', async () => {
    const { code, stdout, stderr } = await other.launch(['restore', file]).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Restored \S+ of .*\n {2}readable[\s\S]*\n {2}counters[\s\S]*\nNo difference\.\n$/)
    const again = await other.launch(['restore', file]).ended
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/not empty/) })
    const service = await other.start()
    const summary = await service.call('GET', '/api/sms/admin/quota/summary?user_id=2')
    expect(summary.body).toMatchObject({ user_id: 2, limit: 5 })
    await service.stop()
  })
})
