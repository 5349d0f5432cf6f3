import { chmod, cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canRead } from '../../src/db/embedded/account.ts'
import { whenDone } from '../support/cleanup.ts'
import { PROJECT } from '../support/paths.ts'
import { createSite } from '../support/process.ts'

const isRoot = process.getuid?.() === 0
const site = await createSite({ prepared: true })

/** The users that a process runs as: real, effective and saved. */
async function usersOf(pid: number | undefined): Promise<number[]> {
  const [, users = ''] = /^Uid:\s+(.*?)\s+\d+$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return users.split(/\s+/).map(Number)
}

test('the service and its PostgreSQL run as the owner of the data folder, also if root starts them', async () => {
  const service = await site.start()
  const { uid, gid } = await stat(site.dataDir)
  expect(uid).not.toBe(0)
  expect(await usersOf(await site.postmaster())).toEqual([uid, uid, uid])
  // A project in a home that others cannot enter keeps the service root.
  const isReadable = !isRoot || canRead({ name: '', uid, gid }, [PROJECT, join(PROJECT, 'src/main.ts')])
  const expected = isReadable ? uid : 0
  expect(await usersOf(service.pid)).toEqual([expected, expected, expected])
  expect((await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 1, limit: 1 } })).status).toBe(201)
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(await site.launch(['migrate']).ended).toMatchObject({ code: 0, stderr: '' })
})

test('a project that only its owner can read is served, by root with a warning if root starts it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'sms-quota-home-'))
  whenDone(() => rm(home, { recursive: true }))
  await chmod(home, 0o700)
  for (const name of ['bin', 'src', 'migrations', 'docs', 'package.json'])
    await cp(join(PROJECT, name), join(home, name), { recursive: true })
  for (const name of ['node_modules', 'console']) await symlink(join(PROJECT, name), join(home, name))
  const service = await site.start({}, join(home, 'bin/sms-quota'))
  expect(service.stdout().includes('runs as root, because its account cannot read the project')).toBe(isRoot)
  expect((await service.call('GET', '/api/sms/admin/quota/summary?user_id=1')).status).toBe(200)
  expect(await usersOf(await site.postmaster())).not.toContain(0)
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
})
