/**
 * Compares the packages that the service ships with the registry's list of advisories. Exit code 0: none is known; 1: some are; 2: not
 * compared, because the registry does not answer, or knows no advisories at all.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A package with known advisories: a registry that has none for it has no list, and its silence means nothing. */
const KNOWN = { name: 'minimist', version: '0.0.8' }

interface Report {
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>
  metadata?: { dependencies?: { prod?: number; optional?: number } }
  message?: string
  error?: { summary?: string; detail?: string }
}

class NotCompared extends Error {}

/** What `npm audit` reports on the lockfile of a folder. @throws NotCompared */
async function audit(folder: string): Promise<Report & Required<Pick<Report, 'vulnerabilities'>>> {
  const args = ['audit', '--json', '--omit=dev', '--package-lock-only', '--fetch-retries=1', '--fetch-timeout=30000']
  const { output, complaint } = await run(args, folder)
  const report = parsed(output)
  if (report?.vulnerabilities !== undefined) return { ...report, vulnerabilities: report.vulnerabilities }
  const { message, error } = report ?? {}
  const reason = message || error?.summary || error?.detail || complaint || 'npm printed no report'
  throw new NotCompared(`the registry does not answer: ${withoutSecrets(reason)}`)
}

/** npm exits with 1 also when it found advisories, so its exit code says nothing. */
function run(args: string[], cwd: string): Promise<{ output: string; complaint: string }> {
  return new Promise((done, fail) => {
    const options = { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 }
    execFile('npm', args, options, (error, output, complaints) => {
      if (error !== null && error.code === 'ENOENT') fail(new NotCompared('there is no npm'))
      else done({ output, complaint: complaints.trim().split('\n')[0] ?? '' })
    })
  })
}

function parsed(text: string): Report | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const withoutSecrets = (text: string) => text.replace(/\/\/[^/\s@]*@/g, '//')

async function knowsAdvisories(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-advisories-'))
  try {
    const { name, version } = KNOWN
    const root = { name: 'known', version: '1.0.0', dependencies: { [name]: version } }
    const packages = { '': root, [`node_modules/${name}`]: { version } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(root))
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, ...root, packages }))
    const { vulnerabilities } = await audit(folder)
    return Object.hasOwn(vulnerabilities, name)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function compare(): Promise<number> {
  const { vulnerabilities, metadata } = await audit(resolve(import.meta.dirname, '..'))
  for (const [name, { severity, via }] of Object.entries(vulnerabilities)) {
    const causes = via.map(cause => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} (${cause.url})`))
    process.stdout.write(`${name}: ${severity}: ${causes.join('; ')}\n`)
  }
  const found = Object.keys(vulnerabilities).length
  if (found > 0) {
    process.stdout.write(`${found} of the packages have known advisories.\n`)
    return 1
  }
  if (!(await knowsAdvisories())) {
    throw new NotCompared(
      `the registry answers, but knows no advisory for ${KNOWN.name} ${KNOWN.version}, which has some`,
    )
  }
  const { prod = 0, optional = 0 } = metadata?.dependencies ?? {}
  process.stdout.write(`No advisory is known for the ${prod + optional} packages that are shipped.\n`)
  return 0
}

try {
  process.exitCode = await compare()
} catch (error) {
  if (!(error instanceof NotCompared)) throw error
  process.stderr.write(`NOT COMPARED with a list of advisories: ${error.message}\n`)
  process.exitCode = 2
}
