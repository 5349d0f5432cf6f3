/** The package as a user installs it: packed, in a fresh project, with types. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'
import { START, startService } from '../support/service.ts'
import { expectedOf, made, STEPS, type Target } from './conformance-steps.ts'

const run = promisify(execFile)
const { app, call, senderToken } = await startService()
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota-client-'))
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true, force: true })
})

const SENDER = `import { createClient } from 'sms-quota-client'
import { openJournal } from 'sms-quota-client/journal'
import { createFakeServer } from 'sms-quota-client/testing'

const journal = await openJournal(process.argv[5] ?? '', { onUnknown: ({ request }) => (request.units === 1 ? 'charge' : 'release') })
const quota = createClient({ url: process.argv[2] ?? '', token: process.argv[3] ?? '', journal, onUnavailable: { otp: 'allow-with-debt' } })
const userId = Number(process.argv[4])
const message = { to: '+4915112345678', text: 'Hello' }
for (const id of ['first', 'second']) {
  const result = await quota.withReservation({ userId, id, message }, () => \`sent \${id}\`)
  console.log(result.granted && result.sent === true ? result.value : result)
}

const fake = await createFakeServer()
const tested = createClient(fake)
await tested.createQuota({ userId, limit: 1 })
console.log((await tested.reserve({ userId, id: 'first', message })).granted)
await tested.summarizeQuotasOfUser({ userId })
await fake.close()
`

/** What the examples of the README leave to the reader. */
const READER = `declare const provider: { send(to: string, text: string): Promise<string> }
declare const quota: import('sms-quota-client').Client
declare const url: string, token: string, after: string, to: string, text: string, body: string
declare const headers: Headers
declare function handle(...page: unknown[]): Promise<void>
`

/** The second message is denied. The fake server has a quota of its own. */
const ONE_SENT = /^sent first\n\{\n {2}granted: false,\n {2}reason: 'quota_exhausted'[^}]*\}\ntrue\n$/

test('a dozen lines send with enforcement in a fresh project, and compile', async () => {
  for (const user_id of [7, 8]) await call('POST', '/api/sms/admin/quota', { body: { user_id, limit: 1 } })
  const { stdout } = await run('npm', ['pack', '--workspace=client', `--pack-destination=${folder}`, '--json'], {
    cwd: PROJECT,
  })
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string; files: { path: string }[] }[]
  expect(packed?.files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'dist/main.js',
      'dist/main.d.ts',
      'dist/node/journal.js',
      'dist/testing-licenses.txt',
    ]),
  )
  expect(packed?.files.filter(({ path }) => !/^dist\/|^LICENSE$|^README.md$|^package.json$/.test(path))).toEqual([])

  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  await run('npm', ['install', '--offline', '--no-audit', `./${packed?.filename}`], { cwd: folder })
  await writeFile(join(folder, 'send.mts'), SENDER.replaceAll(" ?? ''", '!'))
  const readme = await readFile(join(PROJECT, 'client/README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => `${code}export {}\n`)
  expect(examples.length).toBeGreaterThan(4)
  for (const [index, code] of examples.entries()) await writeFile(join(folder, `readme-${index}.mts`), code)
  await writeFile(join(folder, 'reader.d.ts'), READER)
  const sources = ['send.mts', 'reader.d.ts', ...examples.map((_, index) => `readme-${index}.mts`)]
  const tsc = join(PROJECT, 'node_modules/.bin/tsc')
  for (const resolution of ['nodenext', 'bundler']) {
    const moduleKind = resolution === 'bundler' ? 'esnext' : resolution
    const flags = [
      '--strict',
      '--noEmit',
      '--target',
      'es2023',
      '--module',
      moduleKind,
      '--moduleResolution',
      resolution,
    ]
    await run(tsc, [...flags, '--types', 'node', '--typeRoots', join(PROJECT, 'node_modules/@types'), ...sources], {
      cwd: folder,
    })
  }

  await writeFile(join(folder, 'send.mjs'), SENDER)
  const sent = await run(process.execPath, ['send.mjs', url, senderToken, '7', 'journal'], { cwd: folder })
  expect(sent.stdout).toMatch(ONE_SENT)
  // The machine's own Node.js, which may be an older one.
  const sentByOther = await run('node', ['send.mjs', url, senderToken, '8', 'journal'], { cwd: folder })
  expect(sentByOther.stdout).toMatch(ONE_SENT)

  // The fake server lost nothing that it needs when it became one file.
  const { createFakeServer } = await import(join(folder, 'node_modules/sms-quota-client/dist/testing.js'))
  const fake = await createFakeServer({ now: new Date(START).toISOString() })
  const target: Target = { url: fake.url, tokenFor: () => fake.token, advance: fake.advance, quotas: [] }
  for (const step of STEPS) expect(await made(step, target)).toMatchObject(expectedOf(step))
  await fake.close()
})
