import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { REMOTE_COMMANDS } from '../../src/cli/remote/commands.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())

const DOCUMENT = resolve(import.meta.dirname, '../../docs/command-line.md')

/** The words of a line, in which quotes hold words together. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, inner]) => inner ?? word)

test('the overview lists all commands and exit codes, and a group lists its own', async () => {
  const { code, stdout } = await run(['--help'])
  expect(code).toBe(0)
  for (const { name, summary } of REMOTE_COMMANDS)
    expect(stdout).toMatch(new RegExp(`\n  ${name} +${summary.slice(0, 20)}`))
  expect(stdout).toMatch(/Exit codes: 0 done, 1 failed .*, 2 wrong usage\..* 3 denied, 4 .*unavailable/s)
  const group = await run(['quota', '--help'])
  expect(group.stdout).toMatch(/^Usage: sms-quota quota <command> \[options\]\n\nCommands:\n {2}quota list +Lists/)
})

test.each(REMOTE_COMMANDS.map(command => [command.name, command] as const))('the help of %s', async (name, command) => {
  const { code, stdout } = await run([...name.split(' '), '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain(`${command.summary}\n\nUsage: sms-quota ${name} `)
  expect(stdout).toContain('Exit codes: ')
  // Each option says what it means, in a line that does not end in the middle of a sentence of the API.
  for (const [option, { means }] of Object.entries(command.options)) {
    expect(means, option).toMatch(/\w/)
    expect(stdout).toContain(`--${option}`)
  }
  expect(command.examples.every(example => example.includes(`sms-quota ${name}`))).toBe(true)
})

test('a change that can be repeated takes a key', () => {
  const takers = REMOTE_COMMANDS.filter(({ options }) => 'idempotency-key' in options).map(({ name }) => name)
  expect(takers).toEqual([
    'quota create',
    'quota update',
    'quota adjust',
    'plan apply',
    'plan roll-out',
    'rates update',
    'rates import',
    'quota bulk',
    'quota give',
    'transfer',
    'transfer return',
    'pause make',
  ])
})

test('every line of the document works, and every example of the help is accepted', async () => {
  const token = await service.token({ sub: '7', roles: ['sms-quota:admin', 'sms-quota:sender'] })
  const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: token }
  const { body: first } = await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 100 } })

  async function codeOf(line: string): Promise<[line: string, code: number]> {
    const [command = ''] = line.split(/ +(?:\||\|\||#) /)
    const words = wordsOf(command).slice(1)
    const ofQuota = words.map(word => (word === '164' ? String(first.id) : word))
    const { code } = await run(ofQuota, { env, interruption: AbortSignal.abort, now: () => service.clock.now })
    return [line, code]
  }

  const text = await readFile(DOCUMENT, 'utf8')
  const lines = [...text.matchAll(/^sms-quota .*$/gm)].map(([line]) => line).filter(line => !line.includes('--profile'))
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) expect(await codeOf(line)).toEqual([line, 0])
  // The document has deleted the quota and settled the reservation, so the service may refuse: 1. A denial is 3.
  const examples = REMOTE_COMMANDS.flatMap(({ examples }) => examples).filter(
    // The agent runs until a signal; its test runs it.
    line => !/--profile|CURSOR|import|agent|users\.txt|bill|\.yaml/.test(line),
  )
  for (const line of examples) expect([0, 1, 3], line).toContain((await codeOf(line))[1])
})
