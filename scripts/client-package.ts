/**
 * Checks the client as it would be published: packs it, lints the package with publint, installs it in a fresh project, and
 * runs a program with it. `npm run client:package -- bun deno` also runs that with these, if they are on the PATH.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PROJECT = join(import.meta.dirname, '..')

/** Uses each entry of the package, with the fake server as the service. */
const PROGRAM = `import { createClient } from 'sms-quota-client'
import { openJournal } from 'sms-quota-client/journal'
import { createFakeServer } from 'sms-quota-client/testing'

const fake = await createFakeServer()
const journal = await openJournal('quota.journal', { onUnknown: () => 'charge' })
const onUnavailable = { otp: 'allow-with-debt', alert: 'lease' }
const quota = createClient({ ...fake, journal, onUnavailable, outageLease: { units: 2 } })
await quota.createQuota({ userId: 7, limit: 200 })

const send = (id, messageType) => quota.withReservation({ userId: 7, id, units: 1, messageType }, () => 'sent')
const alone = await send('alone', 'alert')
const crowd = await Promise.all(Array.from({ length: 100 }, (_, n) => quota.consume({ userId: 7, id: \`m-\${n}\`, units: 1 })))
const lease = quota.lease({ userId: 7, units: 10 })
const spent = await lease.spend(3)

fake.isAway = true
const debt = await send('debt', 'otp')
const leased = await send('leased', 'alert')
fake.isAway = false
while (journal.debts().length > 0) await new Promise(resolve => setTimeout(resolve, 20))
while (await quota.close().then(() => false, () => true)) await new Promise(resolve => setTimeout(resolve, 20))
await lease.close()
const { used, reserved } = await quota.summarizeQuotasOfUser({ userId: 7 })
await journal.close()
await fake.close()

const answers = [alone.value, crowd.every(({ granted }) => granted), spent.granted, debt.isDebt, leased.isLeased, used, reserved]
console.log(JSON.stringify(answers))
`
/** One, a hundred, three, and two in the outage. */
const EXPECTED = JSON.stringify(['sent', true, true, true, true, 106, 0])

const COMMANDS: Record<string, string[]> = { deno: ['run', '--allow-all', '--node-modules-dir=manual'] }

const folder = mkdtempSync(join(tmpdir(), 'sms-quota-client-'))
try {
  const run = (program: string, args: string[], cwd: string) => execFileSync(program, args, { cwd, encoding: 'utf8' })
  const packed = run('npm', ['pack', '--workspace=client', `--pack-destination=${folder}`, '--json'], PROJECT)
  const [{ filename }] = Object.values(JSON.parse(packed)) as [{ filename: string }]
  run(join(PROJECT, 'node_modules/.bin/publint'), ['run', join(folder, filename), '--strict'], folder)

  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  run('npm', ['install', '--offline', '--no-audit', `./${filename}`], folder)
  writeFileSync(join(folder, 'send.mjs'), PROGRAM)
  for (const runtime of ['node', ...process.argv.slice(2)]) {
    const answers = run(runtime, [...(COMMANDS[runtime] ?? []), 'send.mjs'], folder).trim()
    if (answers !== EXPECTED) throw new Error(`with ${runtime}, the program printed ${answers}, not ${EXPECTED}`)
    const [version] = run(runtime, ['--version'], folder).split('\n')
    console.log(`${filename} works with ${runtime} (${version})`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
