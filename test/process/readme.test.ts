import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createSite, PROJECT, SHELL_PATH } from '../support/process.ts'

/** A command of the README, and what the README says is part of its answer. */
interface Line {
  command: string
  expected: object | null
}

const site = await createSite()

/** The shell blocks of a section, line by line. */
async function linesOf(section: string): Promise<Line[]> {
  const readme = await readFile(join(PROJECT, 'README.md'), 'utf8')
  const text = readme.split(/^## /m).find(part => part.startsWith(`${section}\n`))
  if (text === undefined) throw new Error(`the README has no section "${section}"`)
  const lines: Line[] = []
  for (const line of [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n'))) {
    const last = lines.at(-1)
    if (line.startsWith('#> ')) {
      if (last === undefined || last.expected !== null) throw new Error(`nothing answers ${line}`)
      last.expected = JSON.parse(line.slice(3))
    } else if (line.trim() !== '') {
      lines.push({ command: line, expected: null })
    }
  }
  return lines
}

const MARK = '<<<end of line>>>'

/** Pastes the commands into one shell and answers what each printed. */
async function paste(lines: readonly Line[], url: string): Promise<string[]> {
  const script = lines
    .map(({ command }) => `${command}\nprintf '%s' '${MARK}'`)
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', url)
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], {
    cwd: PROJECT,
    env: {
      PATH: SHELL_PATH,
      DATA_DIR: site.dataDir,
    },
  })
  return stdout.split(MARK)
}

const lines = [
  ...(await linesOf('A walk')),
  ...(await linesOf('Asking before sending')),
  ...(await linesOf('Being told what happens')),
  ...(await linesOf('What was used')),
]

test('the walks of the README work when pasted line by line', async () => {
  const service = await site.start()
  expect(lines.filter(line => line.expected !== null).length).toBeGreaterThan(12)
  const answers = await paste(lines, service.url)
  for (const [index, { command, expected }] of lines.entries()) {
    if (expected !== null) expect(JSON.parse(answers[index] ?? ''), command).toMatchObject(expected)
  }
  await service.stop()
})

/** Method and path of a call; what the shell fills in stands as `*`. */
function callOf(command: string): string | undefined {
  const [, path] = /curl -s .*"\$API([^"?]*)/.exec(command) ?? []
  const [, method = / -d /.test(command) ? 'POST' : 'GET'] = / -X (\w+)/.exec(command) ?? []
  return path === undefined ? undefined : `${method} /api/sms${path.replaceAll(/\$\w+/g, '*')}`
}

test('the walks call every endpoint', async () => {
  const { paths } = JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8'))
  const calls = lines.flatMap(({ command }) => callOf(command) ?? [])
  const missing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations as object)
      .map(method => `${method.toUpperCase()} ${path}`)
      .filter(() => path.startsWith('/api/'))
      .filter(call => !calls.some(made => new RegExp(`^${call.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(made))),
  )
  expect(calls.length).toBeGreaterThan(30)
  expect(missing).toEqual([])
})
