/** A pipe without a writer has no end: commands that read a file refuse what is none at once. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { REMOTE_COMMANDS } from '../../src/cli/remote/commands.ts'
import { printed } from '../support/printed.ts'
import { run } from '../support/terminal.ts'

const folder = await mkdtemp(join(tmpdir(), 'sms-quota-pipe-'))
const [pipe, socket] = [join(folder, 'pipe'), join(folder, 'socket')]
execFileSync('mkfifo', [pipe])
const server = createServer().listen(socket)
await once(server, 'listening')
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

/** The words of each command that reads a FILE, up to its name. */
const READING: Readonly<Record<string, readonly string[]>> = {
  'restore FILE': ['restore'],
  'import FILE': ['import'],
  'plan apply FILE': ['plan', 'apply'],
  'rates import FILE': ['rates', 'import', '--yes', '--card', 'Standard'],
  'reconcile FILE': ['reconcile'],
  'quota give FILE': ['quota', 'give', '--period', 'month', '--units', '5', '--reason', 'x', '--yes'],
  'quota bulk --ids-from': ['quota', 'bulk', 'suspend', '--yes', '--ids-from'],
  'quota bulk --user-ids-from': ['quota', 'bulk', 'suspend', '--yes', '--user-ids-from'],
  'agent --journal': ['agent', '--list', '--journal'],
}

/** These are written, and variables may come out of a pipe. */
const OTHER = /--(?:errors|report|env-file)$|^backup /

test('the list of commands that read a file is whole', () => {
  const places = [...COMMANDS, ...REMOTE_COMMANDS].flatMap(({ name, operands = [], options }) => [
    ...operands.filter(operand => /FILE/.test(operand.name)).map(operand => `${name} ${operand.name}`),
    ...Object.entries(options).flatMap(([option, { value }]) => (value === 'FILE' ? [`${name} --${option}`] : [])),
  ])
  expect(places.filter(place => !OTHER.test(place)).sort()).toEqual(Object.keys(READING).sort())
})

const PLACES = { pipe, socket, folder, device: '/dev/zero' }
const CASES = Object.keys(READING)
  .flatMap(place => Object.entries(PLACES).map(([kind, path]) => [place, kind, path]))
  .filter(
    // Of a folder, a bill has all regular files.
    ([place, kind]) => place !== 'reconcile FILE' || kind !== 'folder',
  )

test.each(CASES)('%s refuses a %s', async (place, _, path) => {
  const env = { DATA_DIR: join(folder, 'data'), SMS_QUOTA_URL: 'http://127.0.0.1:1', SMS_QUOTA_TOKEN: 'token' }
  let complaints = ''
  const outcome = await printed(async () => {
    const { code, stderr } = await run([...(READING[place ?? ''] ?? []), path ?? ''], { env })
    complaints = stderr
    return code
  })
  expect(outcome.code).toBeGreaterThan(0)
  expect(outcome.stderr + complaints).toContain(`${path} is a pipe, a folder or a device, not a regular file`)
})
