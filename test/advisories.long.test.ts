/** `npm run advisories`, with a registry of its own on this machine and the real npm. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { serve } from './support/listening.ts'
import { PROJECT } from './support/paths.ts'

const cache = await mkdtemp(join(tmpdir(), 'sms-quota-npm-'))
afterAll(() => rm(cache, { recursive: true, force: true }))

async function compareWith(registry: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    npm_config_registry: registry,
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
  }
  return new Promise(resolve => {
    execFile(join(PROJECT, 'bin/node'), [join(PROJECT, 'scripts/advisories.ts')], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

/** Runs the script with a registry that answers so. */
async function compare(answer: RequestListener) {
  const { host } = new URL(await serve(answer))
  const result = await compareWith(`http://user:hunter2@${host}/`)
  return result
}

type Packages = Record<string, string[]>

/** A registry with these advisories, which answers for those of the packages that it is asked for. */
const registryWith =
  (names: string[], asked: Packages[] = []): RequestListener =>
  async (request, response) => {
    if (!request.url?.endsWith('/-/npm/v1/security/advisories/bulk')) return void response.writeHead(404).end('{}')
    const body = Buffer.concat(await request.toArray())
    const packages: Packages = JSON.parse(
      (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString(),
    )
    asked.push(packages)
    const found = names.filter(name => Object.hasOwn(packages, name))
    const advisory = (name: string, id: number) => ({
      id,
      name,
      title: `A flaw of ${name}`,
      url: `https://advisories.example/${name}`,
      severity: 'high',
      vulnerable_versions: '*',
      cwe: [],
      cvss: { score: 7.5, vectorString: null },
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Object.fromEntries(found.map((name, id) => [name, [advisory(name, id + 1)]]))))
  }

test('all shipped packages are asked for, and those with advisories are named', { timeout: 60_000 }, async () => {
  const asked: Packages[] = []
  const { code, stdout } = await compare(registryWith(['minimist', 'pg-copy-streams', 'vitest'], asked))
  expect([code, stdout]).toEqual([
    1,
    'pg-copy-streams: high: A flaw of pg-copy-streams (https://advisories.example/pg-copy-streams)\n1 of the packages have known advisories.\n',
  ])
  expect(Object.keys(asked[0] ?? {})).toEqual(expect.arrayContaining(['fastify', 'pg', 'typebox']))
})

test('without advisories it says for how many packages', { timeout: 60_000 }, async () => {
  const { code, stdout, stderr } = await compare(registryWith(['minimist']))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^No advisory is known for the [1-9]\d+ packages that are shipped\.\n$/)
})

test.each<[string, RequestListener, RegExp]>([
  ['has no list', registryWith([]), /knows no advisory for minimist/],
  ['does not answer this question', (_, response) => response.writeHead(405, { allow: 'GET' }).end(), /405/],
  ['does not know this question', (_, response) => response.writeHead(404).end('{}'), /404/],
  ['answers with a page', (_, response) => response.end('<html>Sign in</html>'), /the registry does not answer/],
])('a registry that %s is no proof', { timeout: 60_000 }, async (_, answer, reason) => {
  const { code, stdout, stderr } = await compare(answer)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^NOT COMPARED with a list of advisories: /)
  expect(stderr).toMatch(reason)
  expect(stderr).not.toContain('hunter2')
})

test('a registry that is not there is no proof', { timeout: 60_000 }, async () => {
  expect(await compareWith('http://127.0.0.1:1/')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^NOT COMPARED .*ECONNREFUSED/),
  })
})
