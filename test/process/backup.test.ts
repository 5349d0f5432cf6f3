import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exists } from '../../src/db/embedded/folders.ts'
import { createSite } from '../support/process.ts'

describe('sms-quota backup and restore', async () => {
  const [site, other] = [await createSite({ prepared: true }), await createSite()]
  const folder = join(site.dataDir, '..', 'backups')
  let file = ''

  test('back up beside the running service, into a file that only its owner can read', async () => {
    await mkdir(folder)
    const service = await site.start()
    for (const user_id of [1, 2])
      expect((await service.call('POST', '/api/sms/admin/quota', { body: { user_id, limit: 5 } })).status).toBe(201)
    const { code, stdout, stderr } = await site.launch(['backup', folder]).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^\S+\.backup: \d+ rows of \d+ tables, .*\nThe keys in \S+ are not in it/)
    const [name = ''] = await readdir(folder)
    file = join(folder, name)
    expect(name).toMatch(/^sms-quota-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await service.stop()
  })

  test('overwrite nothing, and leave no partial file', async () => {
    const before = await readFile(file)
    const { code, stderr } = await site.launch(['backup', file]).ended
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/exists: a backup overwrites nothing/),
    })
    expect(await readFile(file)).toEqual(before)
    expect(await readdir(folder)).toHaveLength(1)
    expect(await site.launch(['backup']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/FILE\|FOLDER is missing/),
    })
  })

  test('refuse a damaged file before a database is made', async () => {
    const bytes = await readFile(file)
    await writeFile(join(folder, 'damaged'), bytes.subarray(0, bytes.length / 2))
    const { code, stderr } = await other.launch(['restore', join(folder, 'damaged')]).ended
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/damaged cannot be used: it ends too early/),
    })
    expect(await exists(join(other.dataDir, 'database'))).toBe(false)
  })

  test('restore into a new data folder, verify, and the service serves it', async () => {
    const { code, stdout, stderr } = await other.launch(['restore', file]).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Restored \S+ of .*\n {2}counters[\s\S]*\nNo difference\.\n$/)
    const again = await other.launch(['restore', file]).ended
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/not empty/) })
    const service = await other.start()
    const summary = await service.call('GET', '/api/sms/admin/quota/summary?user_id=2')
    expect(summary.body).toMatchObject({ user_id: 2, limit: 5 })
    await service.stop()
  })
})
