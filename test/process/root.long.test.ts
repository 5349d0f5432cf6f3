/** Every command, started by root: some thirty processes. `root.test.ts` is about the service. */
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { canRead } from '../../src/db/embedded/account.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { copyDataFolder } from '../support/database-server.ts'
import { PROJECT } from '../support/paths.ts'
import { createSite } from '../support/process.ts'

const isRoot = process.getuid?.() === 0

/** Tells the user of a process when it ends. */
const TELL = `data:text/javascript,${encodeURIComponent('process.on("exit", () => process.stderr.write("ends_as_" + process.getuid()))')}`

describe('every command, started by root', async () => {
  const site = await createSite({ prepared: true })
  const home = join(site.dataDir, '..')
  const [ofRoot, linked, mark] = [join(home, 'of-root'), join(home, 'linked'), join(home, 'data/restore-under-way')]
  await mkdir(ofRoot, { mode: 0o700 })
  const external = await databaseOfOnePostgres()
  const { uid, gid } = await stat(site.dataDir)
  const isReadable = canRead({ name: '', uid, gid }, [PROJECT, join(PROJECT, 'src/main.ts')])
  const account = isRoot && !isReadable ? 0 : uid

  /** What each command needs to reach what it is for, and whether it looks into the data folder. */
  const CALLS: Record<string, { words?: string[]; env?: Record<string, string>; exempt?: string }> = {
    serve: {},
    migrate: {},
    verify: {},
    distribute: { env: { DATABASE_URL: external.url, AUTH_SECRET: 'correct horse battery staple, twice' } },
    cluster: {},
    'discard-secrets': { words: ['--yes'] },
    backup: { words: [join(ofRoot, 'first.backup')] },
    restore: { words: [join(ofRoot, 'first.backup')] },
    'upgrade-database': {},
    token: { words: ['--user', '1'] },
    config: { words: ['--check'] },
    completion: { words: ['bash'], exempt: 'it reads no setting and no file' },
  }

  /** Runs a command to its end. A service gets its signal when it says that it is up. */
  async function run(name: string, words = CALLS[name]?.words ?? []) {
    const command = site.launch([name, ...words], { NODE_OPTIONS: `--import=${TELL}`, ...CALLS[name]?.env })
    let isOver = false
    const ended = command.ended.finally(() => {
      isOver = true
    })
    if (name === 'serve') {
      await expect.poll(() => isOver || command.stdout().includes('sms-quota is at')).toBe(true)
      command.signal('SIGTERM')
    }
    const { code, stdout, stderr } = await ended
    const [match, user] = /ends_as_(\d+)/.exec(stderr) ?? []
    return { code, stdout, stderr: stderr.replace(match ?? '', ''), user: Number(user) }
  }

  afterAll(() => {
    if (!isRoot)
      console.warn('root.long.test.ts: not run by root, so no command could change its user, or a file of another one')
  })

  test('has its line in the table of this test', () => {
    expect(Object.keys(CALLS).sort()).toEqual(COMMANDS.map(({ name }) => name).sort())
  })

  test.each(Object.keys(CALLS))('%s goes on as the owner of the data folder', async name => {
    if (name === 'restore') await rm(join(site.dataDir, 'database'), { recursive: true })
    const { code, stdout, stderr, user } = await run(name)
    if (CALLS[name]?.exempt === undefined) expect({ user, stderr }).toMatchObject({ user: account })
    // There is no cluster.
    if (['cluster', 'distribute'].includes(name)) expect(stdout + stderr).toMatch(/cluster/)
    else expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    if (name === 'backup') {
      // Into a folder that only root can write.
      expect(await readdir(ofRoot)).toEqual(['first.backup'])
      const file = await stat(join(ofRoot, 'first.backup'))
      expect({ uid: file.uid, mode: file.mode & 0o777 }).toEqual({ uid: process.getuid?.(), mode: 0o600 })
    }
  })

  test.each(Object.keys(CALLS))('%s follows no link in the data folder', async name => {
    const targets = ['auth-secret', 'secrets-key', 'postgresql.log', 'restore-under-way', 'upgrade']
    await mkdir(linked, { recursive: true })
    await chmod(linked, 0o755)
    const before: Record<string, unknown> = {}
    const look = async (file: string) => {
      const { uid, gid, mode } = await stat(join(linked, file))
      return { uid, gid, mode, content: await readFile(join(linked, file), 'utf8') }
    }
    for (const target of targets) {
      const file = join(linked, target)
      await writeFile(file, `${target}: 43 characters that only its owner is to read\n`)
      // Wider than the mode of a secret, which a command would have mended.
      await chmod(file, 0o644)
      before[target] = await look(target)
      if (target === 'restore-under-way' && name !== 'restore') continue
      await rm(join(site.dataDir, target), { force: true, recursive: true })
      await symlink(file, join(site.dataDir, target))
    }
    if (name === 'restore') await rm(join(site.dataDir, 'database'), { recursive: true })
    const { stdout, stderr } = await run(name, name === 'backup' ? [join(ofRoot, 'second.backup')] : CALLS[name]?.words)
    for (const target of targets) expect({ [target]: await look(target) }).toEqual({ [target]: before[target] })
    expect(await readdir(linked)).toEqual(targets.toSorted())
    expect(stdout + stderr).not.toContain('43 characters')
    if (name === 'token') expect(stderr).toMatch(/auth-secret" is a link, and links are not followed/)
    for (const target of targets) await rm(join(site.dataDir, target), { force: true })
    await rm(mark, { force: true })
    if (
      await lstat(join(site.dataDir, 'database')).then(
        () => false,
        () => true,
      )
    )
      await copyDataFolder(join(inject('preparedFolder'), 'database'), join(site.dataDir, 'database'))
  })

  test('a backup that is killed leaves no file', async () => {
    const writing = site.launch(['backup', join(ofRoot, 'third.backup')])
    await expect.poll(() => site.postmaster(), { interval: 5 }).toBeDefined()
    expect(await readdir(ofRoot)).toContain('third.backup.partial')
    await writing.kill()
    await expect.poll(() => readdir(ofRoot)).toEqual(['first.backup'])
  })
})
