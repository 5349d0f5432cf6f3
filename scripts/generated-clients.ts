/**
 * Generates clients from docs/openapi.json with the most used generators, compiles them, and makes a round of calls with each against a
 * service that it starts. It needs the network, for what clients depend on, and Java, Maven, Go, Python 3 with venv, and PHP with Guzzle (of
 * Debian: php-curl, php-mbstring, php-guzzlehttp-guzzle). What a generator needs and the machine lacks is reported as not tried. docs/compatibility.md has the results.
 *
 * `node scripts/generated-clients.ts [NAME …]` tries only these.
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const PROJECT = join(import.meta.dirname, '..')
const DOCUMENT = join(PROJECT, 'docs/openapi.json')
const PROGRAMS = join(import.meta.dirname, 'generated-clients')
const VERSIONS = {
  openapiGenerator: '7.24.0',
  oapiCodegen: 'v2.8.2',
  openapiPythonClient: '0.29.1',
  openapiTypescript: '7.13.0',
}

/** What each program prints: two units for a text of 161 characters, and why five more are denied. */
const EXPECTED = '[2, 2, quota_exhausted, 1, quota.created, 404 not_found]'

const run = promisify(execFile)
/** @returns what it printed. @throws Error with what it printed to either */
async function call(folder: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}

/** Generates and compiles a client in the folder. @returns what runs the program of the round, before its arguments */
type Build = (folder: string) => Promise<string[]>

async function openapiGenerator(folder: string, generator: string, ...options: string[]): Promise<void> {
  const { openapiGenerator: version } = VERSIONS
  const artifact = `org.openapitools:openapi-generator-cli:${version}`
  await call(folder, 'mvn', '-q', 'dependency:get', `-Dartifact=${artifact}`)
  const place = `org/openapitools/openapi-generator-cli/${version}/openapi-generator-cli-${version}.jar`
  const jar = join(homedir(), '.m2/repository', place)
  await call(folder, 'java', '-jar', jar, 'generate', '-i', DOCUMENT, '-g', generator, '-o', folder, ...options)
}

async function venv(folder: string, ...packages: string[]): Promise<string> {
  await call(folder, 'python3', '-m', 'venv', 'venv')
  await call(folder, join(folder, 'venv/bin/pip'), 'install', '-q', ...packages)
  return join(folder, 'venv/bin/python')
}

const BUILDS: Record<string, Build> = {
  'openapi-generator-java': async folder => {
    await openapiGenerator(folder, 'java')
    await copyFile(join(PROGRAMS, 'openapi-generator.java'), join(folder, 'src/main/java/Round.java'))
    await call(folder, 'mvn', '-q', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath.txt')
    const libraries = await readFile(join(folder, 'classpath.txt'), 'utf8')
    return ['java', '-cp', `target/classes:${libraries.trim()}`, 'Round']
  },
  'openapi-generator-go': async folder => {
    await openapiGenerator(folder, 'go')
    await mkdir(join(folder, 'round'))
    await copyFile(join(PROGRAMS, 'openapi-generator.go'), join(folder, 'round/main.go'))
    await call(folder, 'go', 'mod', 'tidy')
    await call(folder, 'go', 'build', '-o', 'run-round', './round')
    return [join(folder, 'run-round')]
  },
  'openapi-generator-python': async folder => {
    await openapiGenerator(folder, 'python')
    const python = await venv(folder, folder)
    return [python, join(PROGRAMS, 'openapi-generator.py')]
  },
  'openapi-generator-php': async folder => {
    await openapiGenerator(folder, 'php')
    return ['php', join(PROGRAMS, 'openapi-generator.php')]
  },
  'oapi-codegen-go': async folder => {
    await mkdir(join(folder, 'api'))
    await call(folder, 'go', 'mod', 'init', 'generated')
    const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${VERSIONS.oapiCodegen}`
    await call(folder, 'go', 'run', tool, '-package', 'api', '-generate', 'types,client', '-o', 'api/api.go', DOCUMENT)
    await copyFile(join(PROGRAMS, 'oapi-codegen.go'), join(folder, 'main.go'))
    await call(folder, 'go', 'mod', 'tidy')
    await call(folder, 'go', 'build', '-o', 'run-round', '.')
    return [join(folder, 'run-round')]
  },
  'openapi-python-client': async folder => {
    const python = await venv(folder, `openapi-python-client==${VERSIONS.openapiPythonClient}`, 'ruff')
    const tool = join(folder, 'venv/bin/openapi-python-client')
    await call(folder, tool, 'generate', '--path', DOCUMENT, '--output-path', 'client')
    await call(folder, join(folder, 'venv/bin/pip'), 'install', '-q', join(folder, 'client'))
    return [python, join(PROGRAMS, 'openapi-python-client.py')]
  },
  'openapi-typescript': async folder => {
    const packages = ['openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24']
    const bin = join(folder, 'node_modules/.bin')
    await call(folder, 'npm', 'install', '--silent', `openapi-typescript@${VERSIONS.openapiTypescript}`, ...packages)
    await call(folder, join(bin, 'openapi-typescript'), DOCUMENT, '--default-non-nullable=false', '-o', 'api.ts')
    await copyFile(join(PROGRAMS, 'openapi-typescript.ts'), join(folder, 'round.mts'))
    const options = '--strict --noEmit --allowImportingTsExtensions --module nodenext --target es2022 --skipLibCheck'
    await call(folder, join(bin, 'tsc'), ...options.split(' '), 'round.mts')
    return [process.execPath, 'round.mts']
  },
}

/** A service on a database of its own. */
async function startService(folder: string) {
  const env = {
    ...process.env,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    AUTH_SECRET: randomBytes(32).toString('hex'),
  }
  const service = spawn(join(PROJECT, 'bin/sms-quota'), ['serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let url = ''
  for await (const line of createInterface({ input: service.stdout })) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? ''
    if (url !== '') break
  }
  service.stdout.resume()
  const roles = ['admin', 'sender'].flatMap(role => ['--role', role])
  const { stdout } = await run(join(PROJECT, 'bin/sms-quota'), ['token', '--subject', '1', ...roles], { env })
  return {
    url,
    token: stdout.trim(),
    async stop() {
      service.kill()
      await once(service, 'exit')
    },
  }
}

const folder = await mkdtemp(join(tmpdir(), 'generated-clients-'))
// Under root, the service runs as an account of its own.
await chmod(folder, 0o755)
const service = await startService(folder)
try {
  const names = process.argv.slice(2)
  let user = 1_000
  for (const [name, build] of Object.entries(BUILDS)) {
    if (names.length > 0 && !names.includes(name)) continue
    user += 1
    const own = join(folder, name)
    await mkdir(own)
    const result = await build(own)
      .then(([program = '', ...args]) => call(own, program, ...args, service.url, service.token, String(user)))
      .then(
        printed => (printed === EXPECTED ? 'compiles, and its calls are answered' : `FAILED: printed ${printed}`),
        error =>
          error.code === 'ENOENT'
            ? `not tried: ${error.path} is missing`
            : `FAILED: ${error.stdout ?? ''}${error.message}`,
      )
    if (result.startsWith('FAILED')) process.exitCode = 1
    console.log(`${name}: ${result}`)
  }
} finally {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
}
