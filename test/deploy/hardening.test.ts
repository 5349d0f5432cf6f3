/** What the ways to run the service leave out of reach: secrets of the folder that is built, ports, rights, moving versions. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseProxies } from '../../src/config/proxies.ts'

const textOf = (file: string) => readFileSync(file, 'utf8')
const linesOf = (file: string) =>
  textOf(file)
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))

/** Whether a line of .dockerignore or .gitignore without further wildcards matches a path or a folder above it. */
function matches(pattern: string, path: string): boolean {
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:.+/)?')
    .replace(/(?<!\))\*/g, '[^/]*')
  return new RegExp(`^${source}(?:/.*)?$`).test(path)
}

/** Whether the image is built without a file: the last line that matches it decides. */
function isLeftOut(path: string): boolean {
  const rule = linesOf('.dockerignore').findLast(line => matches(line.replace(/^!/, ''), path))
  return rule !== undefined && !rule.startsWith('!')
}

const PRIVATE = ['.env', '.env.local', '.env.production', 'server.pem', 'tls.key', 'id.p12', 'token.pfx', '.npmrc']

test.each([
  ...PRIVATE.flatMap(name => [name, `console/${name}`, `src/config/${name}`]),
  'deploy/secrets/auth-secret',
  'sms-quota-2026-11-01.backup',
  'backup.ndjson.gz',
  'data/auth-secret',
  'quotas.csv',
  'src/quotas.backup',
  '.git/config',
  'node_modules/x',
  'console/node_modules/x',
  'console/dist/index.html',
  'test/app.test.ts',
])('the image is built without %s', path => {
  expect(isLeftOut(path)).toBe(true)
})

test('the image has all that runs', () => {
  const files = execFileSync('git', ['ls-files', 'bin', 'client/src', 'console', 'migrations', 'src', 'package*.json'])
  const left = files.toString().trimEnd().split('\n').filter(isLeftOut)
  expect(left).toEqual([])
})

test('git takes no file with secrets', () => {
  for (const name of PRIVATE) {
    const ignored = linesOf('.gitignore').some(pattern => matches(`**/${pattern}`, `console/${name}`))
    expect({ name, ignored }).toEqual({ name, ignored: true })
  }
})

interface Container {
  user?: string
  image?: string
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  read_only?: boolean
}

test('each container of compose runs without further rights', () => {
  const { services }: { services: Record<string, Container> } = parse(textOf('deploy/compose.yaml'))
  expect(Object.keys(services)).toEqual(['service', 'database'])
  for (const { cap_drop, cap_add, security_opt } of Object.values(services)) {
    expect({ cap_drop, cap_add, security_opt }).toEqual({
      cap_drop: ['ALL'],
      cap_add: undefined,
      security_opt: ['no-new-privileges:true'],
    })
  }
  // Without capabilities it could not become another account.
  expect(services.database?.user).toBe('postgres')
})

test('the folder of secrets that compose asks for is closed to others', () => {
  expect(textOf('deploy/compose.yaml')).toContain('install -d -m 0700 deploy/secrets')
  expect(textOf('deploy/compose.yaml')).not.toContain('mkdir')
})

test('Kubernetes starts nothing that trusts the addresses of all pods, and shows metrics to monitoring only', () => {
  const documents = parseAllDocuments(textOf('deploy/kubernetes/sms-quota.yaml')).map(document => document.toJS())
  const of = (kind: string) => documents.filter(document => document.kind === kind)
  const [{ env, ports }] = of('Deployment')[0].spec.template.spec.containers
  const { value } = env.find((variable: { name: string }) => variable.name === 'TRUST_PROXY')
  expect(parseProxies(value)).toMatchObject({ why: 'is no list of addresses and networks' })

  const [policy] = of('NetworkPolicy')
  expect(policy.spec).toMatchObject({
    podSelector: { matchLabels: { app: 'sms-quota' } },
    policyTypes: ['Ingress'],
  })
  const named = (port: string) =>
    policy.spec.ingress.filter((rule: { ports: { port: string }[] }) => rule.ports.some(one => one.port === port))
  expect(ports.map(({ name }: { name: string }) => name)).toEqual(['http', 'metrics'])
  expect(named('http')).toHaveLength(1)
  expect(named('metrics')).toHaveLength(1)
  expect(named('metrics')[0]).toEqual({
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    ports: [{ port: 'metrics' }],
  })
})

test('each image of others is named by its tag and its digest', () => {
  const files = readdirSync('deploy', { recursive: true, encoding: 'utf8' }).filter(name =>
    /Dockerfile|ya?ml$/.test(name),
  )
  const images = files.flatMap(name =>
    [...textOf(`deploy/${name}`).matchAll(/^ *(?:FROM|(?:- )?image:) +(\S+)/gm)].map(([, image = '']) => image),
  )
  expect(images.filter(image => !/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual(['sms-quota:0.2.0'])
  expect(images.length).toBe(4)
})

test('the workflow runs actions by commit, and what it may do is reading', () => {
  const text = textOf('.github/workflows/ci.yml')
  const uses = [...text.matchAll(/uses: (\S+)(.*)/g)]
  expect(uses.length).toBeGreaterThan(4)
  for (const [, action, comment] of uses) {
    expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/)
    expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/)
  }
  expect(parse(text).permissions).toEqual({ contents: 'read' })
  expect(text.match(/actions\/checkout@/g)?.length).toBe(text.match(/persist-credentials: false/g)?.length)
  expect(text).toContain('npm audit signatures')
})

test('updates are proposed for everything that is pinned, some days after they came out', () => {
  const { updates } = parse(textOf('.github/dependabot.yml'))
  const found = updates.map((update: Record<string, string>) => `${update['package-ecosystem']} ${update.directory}`)
  expect(found.sort()).toEqual(['docker /deploy', 'docker-compose /deploy', 'github-actions /', 'npm /', 'pip /python'])
  for (const update of updates) expect(update.cooldown).toMatchObject({ 'default-days': 7 })
})
