/** What a process does in a data folder that belongs to another account, which may put links and files of others there. */
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { openDataFolder } from '../../src/db/embedded/folders.ts'
import { giveTree, removeTree } from '../../src/db/embedded/own-files.ts'
import { giveFolderToAccount } from '../../src/db/embedded/owner.ts'
import { whileRestoring } from '../../src/db/embedded/restoring.ts'
import { ownSecret } from '../../src/http/auth/secrets.ts'
import { copyDataFolder, scratchFolder } from '../support/database-server.ts'

const isRoot = process.getuid?.() === 0
const log = { info() {}, warn() {}, error() {} }
const { folder: root, remove } = await scratchFolder()
afterAll(async () => {
  if (!isRoot)
    console.warn('own-files.test.ts: not run by root, so no owner was changed, and no file was of another user')
  await remove()
})

const dataDir = join(root, 'data')
await copyDataFolder(inject('preparedFolder'), dataDir)
const { uid, gid } = await stat(dataDir)

const start = () => startEmbedded({ dataDir, log }).then(({ stop }) => stop())
const USES: readonly [string, 'file' | 'folder', () => Promise<unknown>][] = [
  ['postgresql.log', 'file', start],
  ['postgres-password', 'file', start],
  ['socket', 'folder', start],
  ['auth-secret', 'file', () => ownSecret(dataDir, 'auth-secret')],
  ['secrets-key', 'file', () => ownSecret(dataDir, 'secrets-key')],
]

/** What a file or a folder is like, with its content. */
async function look(path: string) {
  const entry = await lstat(path)
  const content = entry.isDirectory() ? await readdir(path) : await readFile(path, 'utf8')
  return { uid: entry.uid, gid: entry.gid, mode: entry.mode, content }
}

/** Does `work` while another entry is in the place of that of the data folder. */
async function exchanged(name: string, make: (path: string) => Promise<unknown>, work: () => Promise<unknown>) {
  const path = join(dataDir, name)
  const kept = await copyDataFolder(path, `${path}.kept`).then(
    () => true,
    () => false,
  )
  await rm(path, { recursive: true, force: true })
  await make(path)
  try {
    await work()
  } finally {
    await rm(path, { recursive: true, force: true })
    if (kept) await copyDataFolder(`${path}.kept`, path)
    await rm(`${path}.kept`, { recursive: true, force: true })
  }
}

describe('a link in the data folder', () => {
  const [file, folder] = [join(root, 'file'), join(root, 'folder')]

  test.each(USES)('in the place of %s is refused, and what it leads to is left alone', async (name, kind, use) => {
    await mkdir(folder, { recursive: true })
    await chmod(folder, 0o755)
    await writeFile(file, 'a text of 43 characters, as long as a secret is')
    await chmod(file, 0o644)
    const target = kind === 'file' ? file : folder
    const before = await look(target)
    await exchanged(
      name,
      path => symlink(target, path),
      () => expect(use()).rejects.toThrow(/is a link|belongs to another user/),
    )
    expect(await look(target)).toEqual(before)
  })

  test('in the place of the mark of a restore is refused', async () => {
    await writeFile(file, 'content')
    const restore = () => whileRestoring(join(root, 'restored'), async () => {})
    await mkdir(join(root, 'restored'))
    await symlink(file, join(root, 'restored/restore-under-way'))
    await expect(restore()).rejects.toThrow(/restore-under-way is a link, and links are not followed/)
    expect(await readFile(file, 'utf8')).toBe('content')
  })

  test('in the place of the database is followed by its owner, and not by root', async () => {
    const elsewhere = join(root, 'elsewhere')
    await copyDataFolder(join(dataDir, 'database'), elsewhere)
    await exchanged(
      'database',
      path => symlink(elsewhere, path),
      async () => {
        if (isRoot) await expect(start()).rejects.toThrow(/is a link or no folder/)
        else await start()
      },
    )
    expect(await readdir(elsewhere)).toContain('PG_VERSION')
  })
})

describe('a file of root in the data folder of an account', () => {
  test.each(USES.filter(([, kind]) => kind === 'file'))(
    'in the place of %s is neither given nor used; one of the account is used',
    async (name, _, use) => {
      if (!isRoot) {
        await use()
        expect((await stat(join(dataDir, name))).uid).toBe(uid)
        return
      }
      const make = (path: string) => writeFile(path, 'a text of 43 characters, as long as a secret is', { mode: 0o644 })
      await exchanged(name, make, async () => {
        const before = await look(join(dataDir, name))
        await expect(use()).rejects.toThrow(/belongs to another user than its folder/)
        expect(await look(join(dataDir, name))).toEqual(before)
        expect(before.uid).toBe(0)
      })
    },
  )
})

test('a folder is removed without what its links lead to', async () => {
  const [tree, kept] = [join(root, 'tree'), join(root, 'kept')]
  await mkdir(join(tree, 'deep/deeper'), { recursive: true })
  await mkdir(kept)
  await writeFile(join(kept, 'file'), 'content')
  await symlink(kept, join(tree, 'link'))
  await symlink(kept, join(tree, 'deep/deeper/link'))
  await symlink(join(kept, 'file'), join(tree, 'deep/file'))
  await removeTree(tree)
  await removeTree(tree)
  expect((await readdir(root)).includes('tree')).toBe(false)
  expect(await look(kept)).toMatchObject({ content: ['file'] })
  await symlink(kept, tree)
  await removeTree(tree)
  expect(await look(kept)).toMatchObject({ content: ['file'] })
})

test('a folder is given by root only, with its content and its modes, and a link without what it leads to', async () => {
  const [tree, kept] = [join(root, 'given'), join(root, 'kept')]
  await mkdir(join(tree, 'deep'), { recursive: true })
  await writeFile(join(tree, 'deep/file'), 'content', { mode: 0o640 })
  await symlink(kept, join(tree, 'link'))
  await chmod(join(tree, 'deep'), 0o750)
  await chown(join(tree, 'deep'), uid, gid)
  const before = await look(kept)
  if (!isRoot) {
    await expect(giveTree(tree, { uid, gid })).rejects.toThrow(/EPERM/)
    return
  }
  await giveTree(tree, { uid, gid })
  for (const name of ['.', 'deep', 'deep/file', 'link'])
    expect(await lstat(join(tree, name))).toMatchObject({ uid, gid })
  expect((await stat(join(tree, 'deep'))).mode & 0o777).toBe(0o750)
  expect(await readlink(join(tree, 'link'))).toBe(kept)
  expect(await look(kept)).toEqual(before)
})

test('a new folder is given while others give it, and its account can enter it from then on', async () => {
  for (let round = 0; round < 15; round++) {
    const folders = await openDataFolder(join(root, `new-${round}`))
    const calls = [0, 1, 2, 3].map(async n => {
      for (let tick = 0; tick < n * (round % 10); tick++) await immediate()
      await giveFolderToAccount(folders, log)
    })
    await Promise.all(calls)
  }
})
