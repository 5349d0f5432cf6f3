import { chown, copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/create-quota.ts'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { exists } from '../../src/db/embedded/folders.ts'
import { upgradeDatabase } from '../../src/db/embedded/upgrade.ts'
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

  test('follow no link that appears in the place of the file', async () => {
    const [target, elsewhere] = [join(folder, 'raced'), join(site.dataDir, '..', 'elsewhere')]
    await mkdir(elsewhere)
    // Without a service it starts the database first, which leaves the time.
    const writing = site.launch(['backup', target])
    await expect.poll(() => exists(`${target}.partial`), { interval: 5 }).toBe(true)
    await symlink(elsewhere, target)
    const { code, stderr } = await writing.ended
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/raced could not be given its name/),
    })
    expect(await readdir(elsewhere)).toEqual([])
    await rm(target)
    expect(await readdir(folder)).toHaveLength(1)
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

  test('a restore that is killed while it makes the database keeps the service from starting', async () => {
    const restore = other.launch(['restore', file])
    await expect.poll(() => exists(join(other.dataDir, 'restore-under-way')), { interval: 5 }).toBe(true)
    await restore.kill()
    const refusal = expect.stringMatching(/a restore into \S+ was not completed: run "sms-quota restore" again/)
    expect(await other.launch(['serve']).ended).toMatchObject({ code: 1, stderr: refusal })
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

describe('an upgrade of the database', async () => {
  const site = await createSite({ prepared: true })
  const { dataDir } = site
  const log = { info() {}, warn() {}, error() {} }

  /** Works on the database in the data folder, as the only service that uses it. */
  async function whileRunning<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const embedded = await startEmbedded({ dataDir, log })
    const db = openDatabase({ url: embedded.url })
    try {
      return await work(db)
    } finally {
      await db.close()
      await embedded.stop()
    }
  }

  const quotas = () => whileRunning(db => db.query({ text: sql`select user_id, "limit" from quota` }))

  test('is not needed with the newest version', async () => {
    const inUse = await whileRunning(async db => {
      const author = { now: Date.now(), actor: 'ada', requestId: 'test' }
      await db.transaction(tx => createQuota(tx, { user_id: 7, limit: 5 }, author))
      return site.launch(['upgrade-database']).ended
    })
    expect(inUse).toMatchObject({ code: 1, stderr: expect.stringMatching(/is in use by another service/) })
    expect(await site.launch(['upgrade-database']).ended).toEqual({
      code: 0,
      stdout: 'Nothing to upgrade.\n',
      stderr: '',
    })
  })

  test('that does not verify leaves the old database', async () => {
    const failing = upgradeDatabase({ dataDir, log, force: true, verify: async () => false })
    await expect(failing).rejects.toThrow(/differs/)
    expect(await exists(join(dataDir, 'upgrade'))).toBe(false)
    expect(await quotas()).toEqual([{ user_id: 7, limit: 5 }])
  })

  test('puts a new database with the same rows in the place of the old one', async () => {
    const { ino } = await stat(join(dataDir, 'database'))
    await upgradeDatabase({ dataDir, log, force: true, verify: async () => true })
    expect((await stat(join(dataDir, 'database'))).ino).not.toBe(ino)
    expect(await exists(join(dataDir, 'upgrade'))).toBe(false)
    expect(await quotas()).toEqual([{ user_id: 7, limit: 5 }])
  })

  test('that is killed between its renames is completed by the next start', async () => {
    const { uid, gid } = await stat(dataDir)
    await mkdir(join(dataDir, 'upgrade'))
    await chown(join(dataDir, 'upgrade'), uid, gid)
    await copyFile(join(dataDir, 'postgres-password'), join(dataDir, 'upgrade/postgres-password'))
    await rename(join(dataDir, 'database'), join(dataDir, 'upgrade/database'))
    const service = await site.start()
    const { body } = await service.call('GET', '/api/sms/admin/quota/summary?user_id=7')
    expect(body).toMatchObject({ user_id: 7, limit: 5 })
    await service.stop()
    expect(await exists(join(dataDir, 'upgrade'))).toBe(false)
  })
})
