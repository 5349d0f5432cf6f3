import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dispatch } from '../../src/cli/dispatch.ts'
import { DEFAULT_URL } from '../../src/cli/remote/profiles.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startService } from '../support/service.ts'
import { run, testTerminal } from '../support/terminal.ts'

const BIN = resolve(import.meta.dirname, '../../bin/sms-quota')
const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sms-quota cli '))
  await mkdir(join(folder, 'sms-quota'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The address of a server, and of nothing once it is closed. */
async function serverOf(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

describe('the address and the token', () => {
  test('the default address is where the service listens by default', () => {
    const loaded = loadConfig({})
    expect('config' in loaded && `http://${loaded.config.host}:${loaded.config.port}`).toBe(DEFAULT_URL)
  })

  test('options come before the environment', async () => {
    const wrong = { SMS_QUOTA_URL: 'http://127.0.0.1:1', SMS_QUOTA_TOKEN: 'wrong' }
    const words = ['whoami', '--url', `${url}/`, '--token', service.adminToken]
    expect(await run(words, { env: wrong })).toMatchObject({ code: 0, stderr: '' })
  })

  test('a profile has both', async () => {
    const file = join(folder, 'sms-quota', 'profiles.json')
    const secret = service.adminToken
    const attempt = async (content: string, name = 'local', mode = 0o600) => {
      await writeFile(file, content)
      await chmod(file, mode)
      return run(['whoami', '--profile', name], { env: { XDG_CONFIG_HOME: folder } })
    }
    const good = JSON.stringify({ local: { url, token: secret } })
    const outcomes = [
      await attempt(good),
      await attempt(good, 'local', 0o640),
      await attempt(good, 'locla'),
      await attempt(good.slice(0, -1)),
      await attempt(JSON.stringify({ local: { url, tokne: secret } })),
      await attempt(JSON.stringify([good])),
      await run(['whoami', '--profile', 'local'], { env: { XDG_CONFIG_HOME: join(folder, 'none') } }),
    ]
    expect(outcomes.map(({ code }) => code)).toEqual([0, 1, 1, 1, 1, 1, 1])
    const messages = outcomes.map(({ stderr }) => stderr.replaceAll(folder, '~'))
    expect(messages).toEqual([
      '',
      'sms-quota: others can use the tokens in ~/sms-quota/profiles.json, whose mode is 0640: run chmod 600 "~/sms-quota/profiles.json"\n',
      'sms-quota: ~/sms-quota/profiles.json has no profile "locla", only local; did you mean local?\n',
      expect.stringContaining('sms-quota: ~/sms-quota/profiles.json is not a JSON object of profiles: '),
      'sms-quota: the profile "local" in ~/sms-quota/profiles.json needs "url" and "token", both text, and nothing else\n',
      expect.stringContaining('sms-quota: ~/sms-quota/profiles.json is not a JSON object of profiles: '),
      'sms-quota: there is no file ~/none/sms-quota/profiles.json\n',
    ])
    expect(outcomes.filter(({ stdout, stderr }) => (stdout + stderr).includes(secret))).toEqual([])
  })
})

describe('a service that does not answer', () => {
  test('nothing listens: says what was tried, at once', async () => {
    const { address, close } = await serverOf(() => {})
    await close()
    for (const words of [
      ['quota', 'list'],
      ['check', '7', '--units', '1'],
      ['events', '--follow'],
    ]) {
      const { stderr, ...rest } = await run(words, { env: { ...env, SMS_QUOTA_URL: address } })
      expect(rest).toEqual({ code: 4, stdout: '' })
      // Services that run on this machine follow, those of other tests, too.
      expect(stderr.replace(/^Process \d+ is a service, with .*\n/gm, '')).toBe(
        `sms-quota: ${address} cannot be reached: nothing listens there\nIs the service running, and is this its address? --url, SMS_QUOTA_URL or --profile name another.\n`,
      )
    }
  })

  test('another service answers', async () => {
    const { address, close } = await serverOf((_, response) => response.end('<h1>It works!</h1>'))
    expect(await run(['quota', 'list', '--url', address], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: `sms-quota: what answers at ${address} is not sms-quota: The answer with status 200 is not the service's: <h1>It works!</h1>\n`,
    })
    await close()
  })

  test('a change that may have been done names the key that makes it repeatable', async () => {
    const keys: unknown[] = []
    const { address, close } = await serverOf((request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '60' })
      const problem = {
        title: 'Unavailable',
        status: 503,
        code: 'unavailable',
        detail: 'No database.',
        request_id: 'r',
      }
      response.end(JSON.stringify({ type: 'about:blank', ...problem }))
    })
    const words = ['quota', 'create', '--user-id', '7', '--limit', '1', '--url', address]
    const { code, stderr } = await run(words, { env })
    await close()
    expect({ code, keys }).toEqual({ code: 4, keys: [expect.stringMatching(/^[0-9a-f-]{36}$/)] })
    expect(stderr).toBe(
      `sms-quota: ${address} is unavailable: unavailable: No database.\nIt may have been done. Repeat it with --idempotency-key ${keys[0]}: then nothing is done twice.\n`,
    )
  })
})

describe('events', () => {
  let limit = 0
  const createQuota = async () => {
    limit += 1
    const { body } = await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit } })
    return body.id as number
  }

  test('are listed, and the list goes on where it ended', async () => {
    const none = await run(['events', '--after', 'latest'], { env })
    expect(none).toMatchObject({ code: 0, stdout: '' })
    const [, cursor] = /^There are no events\.\nto go on: --after=(\S+)\n$/.exec(none.stderr) ?? []
    const ids = [await createQuota(), await createQuota(), await createQuota()]
    const all = await run(['events', `--after=${cursor}`, '--json'], { env })
    const quotas = all.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).data.quota.id)
    expect(quotas).toEqual(ids)
    const some = await run(['events', `--after=${cursor}`, '--limit', '2', '--types', 'quota.created'], { env })
    expect(some.stdout.split('\n')).toEqual([
      expect.stringMatching(/^at +type +user_id +what$/),
      expect.stringMatching(new RegExp(`^2026\\S+ +quota\\.created +7 +quota ${ids[0]}$`)),
      expect.stringMatching(new RegExp(`^2026\\S+ +quota\\.created +7 +quota ${ids[1]}$`)),
      '',
    ])
    const last = await run(['events', '--last', '1', '--user-id', '7'], { env })
    expect(last.stdout).toContain(`quota ${ids[2]}\n`)
    expect(last.stdout).not.toContain(`quota ${ids[1]}\n`)
  })

  test('are followed until Ctrl-C, which says how to go on', async () => {
    const { stderr } = await run(['events', '--after', 'latest'], { env })
    const [, end] = /--after=(\S+)/.exec(stderr) ?? []
    const terminal = testTerminal({ env })
    await service.call('PUT', '/api/sms/admin/users/7/profile', { body: { ref: 'k/7' } })
    const following = dispatch(['events', '--follow', `--after=${end}`, '--user-id', 'ref:k/7'], terminal)
    for (let n = 0; n < 3; n++) {
      await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 8, limit: n } })
      await terminal.shows(`quota ${await createQuota()}\n`)
    }
    terminal.interrupt()
    expect(await following).toBe(0)
    expect(terminal.stdout).not.toMatch(/quota\.created +8 /)
    const [, cursor] = /^to go on: --after=(\S+)\n$/.exec(terminal.stderr) ?? []
    const next = await createQuota()
    const { stdout } = await run(['events', `--after=${cursor}`, '--json'], { env })
    expect(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).data.quota.id),
    ).toEqual([next])
  })

  test('end quietly when their reader leaves', async () => {
    const closed = async () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    }
    const { code, stderr } = await run(['events', '--follow', '--last', '1'], { env, print: closed })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe('the process', () => {
  test('follows until SIGINT, and leaves no stack trace', async () => {
    const child = spawn(BIN, ['events', '--follow', '--last', '1', '--json'], { env: { ...process.env, ...env } })
    const stderr = text(child.stderr)
    const [line] = await once(child.stdout, 'data')
    expect(JSON.parse(String(line))).toMatchObject({ type: 'quota.created' })
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await stderr).toMatch(/^to go on: --after=\S+\n$/)
  })

  test('a reader that leaves ends it quietly', async () => {
    const child = spawn(BIN, ['quota', 'list', '--json'], { env: { ...process.env, ...env } })
    child.stdout.destroy()
    const stderr = text(child.stderr)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await stderr).toBe('')
  })
})

test('bash completes commands, options and values', async () => {
  const { stdout: script } = await run(['completion', 'bash'])
  const cases: [words: string, completed: string][] = [
    ['sms-quota qu', 'quota'],
    ['sms-quota quota ', 'list get history create update adjust delete bulk give'],
    ['sms-quota quota l', 'list'],
    ['sms-quota quota list --st', '--status'],
    ['sms-quota quota list --status ex', 'expired exhausted'],
    ['sms-quota quota list --status = ex', 'expired exhausted'],
    ['sms-quota quota list --status =', 'deleted expired suspended scheduled exhausted active'],
    ['sms-quota quota create --user-id ', ''],
    ['sms-quota quota create --user-id 7 --peri', '--period'],
    ['sms-quota events --types quota.e', 'quota.expired'],
    ['sms-quota token --role a', 'admin auditor'],
    ['sms-quota completion z', 'zsh'],
    ['sms-quota serve --env-file LICENS', 'LICENSE'],
    ['sms-quota nonsense ', expect.stringContaining('serve')],
  ]
  const calls = cases.map(([words]) => {
    const list = words.split(' ').map(word => `'${word}'`)
    return `COMP_WORDS=(${list.join(' ')}); COMP_CWORD=${list.length - 1}; COMPREPLY=(); _sms_quota; echo "\${COMPREPLY[*]}"`
  })
  const { stdout } = await promisify(execFile)('bash', ['-uc', [script, ...calls].join('\n')])
  const completed = stdout.replace(/\n$/, '').split('\n')
  expect(completed.map((line, index) => [cases[index]?.[0], line])).toEqual(cases)
})
