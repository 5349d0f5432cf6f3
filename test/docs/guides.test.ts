/** The guides, as a reader follows them: each page is pasted into a shell of its own, with the programs that it shows. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installClient } from '../support/client-package.ts'
import { PROJECT } from '../support/paths.ts'
import { startService } from '../support/service.ts'
import { expectShown, type Line, linesOf, linesOfBlock, paste } from '../support/walk.ts'

const AUTH_SECRET = 'a secret for guides only, long enough for HS256'
/** As of a service with a database of its own: what is counted by itself is kept under a keyed hash. */
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
const { app } = await startService({ env: { AUTH_SECRET, SECRETS_KEY } })
const listening = { port: 0, host: '127.0.0.1' }
const url = await app.listen(listening)
const folder = await mkdtemp(join(tmpdir(), 'sms-quota-guides-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const GUIDES = join(PROJECT, 'docs/guides')
const names = readdirSync(GUIDES)
const textOf = (name: string) => readFileSync(join(GUIDES, name), 'utf8')

/** The addresses of services with other settings: of guides that export them in a line of their own. */
const urls = new Map<string, string>()
for (const name of names) {
  const [, settings] = /^export ((?:[A-Z_]+=\w+ ?)+)$/m.exec(textOf(name)) ?? []
  if (settings === undefined) continue
  const env = Object.fromEntries(settings.split(' ').map(setting => setting.split('=')))
  const own = await startService({ env: { AUTH_SECRET, SECRETS_KEY, ...env } })
  urls.set(name, await own.app.listen(listening))
}

/** What the programs of the guides leave to the reader. */
const READER = "const provider = { send: async (to: string, text: string) => [to, text].join(': ') }\nvoid provider\n"
/** The lines of the guide's `sh` blocks, and a line that runs each `ts` block. What that prints stands behind `//>`. */
async function stepsOf(name: string): Promise<Line[]> {
  const place = join(folder, name)
  await mkdir(place)
  const blocks = [...textOf(name).matchAll(/^```(sh|ts)\n([\s\S]*?)^```$/gm)]
  const steps = blocks.map(async ([, language, code = ''], index) => {
    if (language === 'sh') return linesOfBlock(code)
    const file = join(place, `${index}.mts`)
    await writeFile(file, READER + code.replaceAll('http://127.0.0.1:8080', url).replaceAll('/var/lib/sender', place))
    const expected = [...code.matchAll(/^\/\/> (.*)$/gm)].map(([, line]) => line).join('\n')
    return [{ command: `bin/node ${file}`, expected }]
  })
  return (await Promise.all(steps)).flat()
}

const steps = new Map<string, Line[]>()
let variables: Record<string, string>

beforeAll(async () => {
  await installClient(folder)
  for (const name of names) steps.set(name, await stepsOf(name))
  // Every guide begins with them.
  const setUp = await linesOf('docs/tour.md', 'Three tokens')
  const shown = ['API', 'ADMIN', 'SENDER', 'USER7', 'JSON']
  const printing = shown.map(variable => ({ command: `echo "$${variable}"`, expected: null }))
  const printed = await paste([...setUp, ...printing], { url, AUTH_SECRET, DATA_DIR: folder })
  const values = printed.slice(setUp.length).map(text => text.trim())
  variables = Object.fromEntries(shown.map((variable, index) => [variable, values[index] ?? '']))
})

test('there is a guide for each task', () => {
  expect(names.length).toBeGreaterThanOrEqual(9)
})

test.each(names)('%s works when pasted', async name => {
  const lines = steps.get(name) ?? []
  expect(lines.filter(({ expected }) => expected !== null).length).toBeGreaterThan(1)
  expectShown(lines, await paste(lines, { url: urls.get(name) ?? url, AUTH_SECRET, DATA_DIR: folder, ...variables }))
})

test.each(names)('%s has at most 60 lines and names the variables that it needs', name => {
  const text = textOf(name)
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  if (text.includes('$API')) expect(text).toContain('[the variables of the tour](../tour.md#three-tokens)')
})

test('the programs of the guides have the right types', async () => {
  const files = [...steps.values()].flat().flatMap(({ command }) => / (\S+\.mts)$/.exec(command)?.[1] ?? [])
  expect(files.length).toBeGreaterThan(3)
  const flags =
    '--ignoreConfig --strict --noEmit --target esnext --module nodenext --allowImportingTsExtensions --skipLibCheck'
  const types = ['--types', 'node', '--typeRoots', join(PROJECT, 'node_modules/@types')]
  const checking = promisify(execFile)(join(PROJECT, 'node_modules/.bin/tsc'), [
    ...flags.split(' '),
    ...types,
    ...files,
  ])
  expect(await checking.catch(error => error)).toMatchObject({ stdout: '' })
})
