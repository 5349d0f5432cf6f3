/** Backups and restores that are disturbed, and upgrades of the database. `backup-commands.long.test.ts` has what all of them do. */
import { chown, copyFile, mkdir, readdir, rename, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { exists } from '../../src/db/embedded/folders.ts'
import { upgradeDatabase } from '../../src/db/embedded/upgrade.ts'
import { createSite } from '../support/process.ts'

describe('sms-quota backup and restore', async () => {
  const [site, other] = [await createSite({ prepared: true }), await createSite()]
  const folder = join(site.dataDir, '..', 'backups')

  test('follow no link that appears in the place of the file', async () => {
    await mkdir(folder)
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
    expect(await readdir(folder)).toEqual(['raced'])
  })

  test('a restore that is killed while it makes the database keeps the service from starting', async () => {
    const file = join(folder, 'whole')
    expect(await site.launch(['backup', file]).ended).toMatchObject({ code: 0, stderr: '' })
    const restore = other.launch(['restore', file])
    await expect.poll(() => exists(join(other.dataDir, 'restore-under-way')), { interval: 5 }).toBe(true)
    await restore.kill()
    const refusal = expect.stringMatching(/a restore into \S+ was not completed: run "sms-quota restore" again/)
    expect(await other.launch(['serve']).ended).toMatchObject({ code: 1, stderr: refusal })
    expect(await other.launch(['restore', file]).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await exists(join(other.dataDir, 'restore-under-way'))).toBe(false)
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
