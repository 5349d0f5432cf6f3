/**
 * Senders that are killed at each step of withReservation, of a lease and of the journal, and start again. What is charged then is
 * what was sent, or is reported as unknown. Writes docs/reference/killed-senders.md with `-u`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { startService } from '../support/service.ts'
import type { Run } from './killed-sender.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'killed-'))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true, force: true })
})
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })
const PARALLEL = 3

interface Case {
  /** For the table. */
  readonly killed: string
  /** Each sends or recovers up to its step, and is killed there. */
  readonly runs: readonly (Pick<Run, 'killAt'> & Partial<Run>)[]
  /** Units of the message; 1 if left out. */
  readonly units?: number
  /** Whether no report says that the message was charged and not sent. */
  readonly isSilent?: boolean
}

const [send, failing] = [{ task: 'send' }, { task: 'send', sendFails: true }] as const
const recover = { task: 'recover', network: 'up' } as const

/** The units are committed before the message is sent. */
const ONLINE: Case[] = [
  { killed: 'before the reservation', runs: [{ ...send, killAt: 'before reserve' }] },
  { killed: 'when the service has reserved', runs: [{ ...send, killAt: 'after reserve' }] },
  { killed: 'before the commit', runs: [{ ...send, killAt: 'before commit' }] },
  { killed: 'when the service has committed', runs: [{ ...send, killAt: 'after commit' }], isSilent: true },
  { killed: 'before the provider has the message', runs: [{ ...send, killAt: 'before send' }], isSilent: true },
  { killed: 'when the provider has the message', runs: [{ ...send, killAt: 'after send' }] },
  { killed: 'at the end', runs: [{ ...send, killAt: 'end' }] },
  {
    killed: 'the send failed, before the refund',
    runs: [{ ...failing, killAt: 'before refund' }],
    isSilent: true,
  },
  { killed: 'the send failed, when the service has refunded', runs: [{ ...failing, killAt: 'after refund' }] },
]

const spend = { task: 'spend' } as const
const ahead = { task: 'ahead' } as const
const settled = { task: 'settled' } as const

const LEASE: Case[] = [
  { killed: 'before the slice is reserved', runs: [{ ...spend, killAt: 'before reserve' }] },
  { killed: 'when the service has reserved it', runs: [{ ...spend, killAt: 'after reserve' }] },
  { killed: 'before the provider has the message', runs: [{ ...spend, killAt: 'before send' }] },
  { killed: 'when the provider has the message', runs: [{ ...spend, killAt: 'after send' }] },
  { killed: 'before the slice is settled', runs: [{ ...spend, killAt: 'before settlement' }] },
  { killed: 'when the service has settled it', runs: [{ ...spend, killAt: 'after settlement' }] },
  { killed: 'at the end', runs: [{ ...spend, killAt: 'end' }] },
  { killed: 'before the next slice is reserved', runs: [{ ...ahead, killAt: 'before reserve 2' }] },
  { killed: 'when the service has reserved the next one', runs: [{ ...ahead, killAt: 'after reserve 2' }] },
]

/** The whole slice is spent for the message, and committed before it is sent. */
const LEASE_SPENT: Case[] = [
  { killed: 'before the slice is committed', runs: [{ ...settled, killAt: 'before commit' }] },
  { killed: 'before the provider has the message', runs: [{ ...settled, killAt: 'before send' }], isSilent: true },
  { killed: 'when the provider has the message', runs: [{ ...settled, killAt: 'after send' }] },
  {
    killed: 'the send failed, before the refund',
    runs: [{ ...settled, sendFails: true, killAt: 'before refund' }],
    isSilent: true,
  },
  {
    killed: 'the send failed, when the service has refunded',
    runs: [{ ...settled, sendFails: true, killAt: 'after refund' }],
  },
].map(one => ({ ...one, units: 4 }))

const outage = { task: 'outage' } as const

const LEASE_IN_OUTAGE: Case[] = [
  { killed: 'before the provider has the message', runs: [{ ...outage, killAt: 'before send' }] },
  { killed: 'when the provider has the message', runs: [{ ...outage, killAt: 'after send' }] },
  { killed: 'at the end', runs: [{ ...outage, killAt: 'end' }] },
]

const sent = { ...send, killAt: 'after outcome' }
const notSent = { ...failing, killAt: 'after outcome' }

const AS_DEBT: Case[] = [
  { killed: 'before the entry', runs: [{ ...send, killAt: 'before entry' }] },
  { killed: 'after the entry, before the provider has the message', runs: [{ ...send, killAt: 'after entry' }] },
  { killed: 'when the provider has the message', runs: [{ ...send, killAt: 'after send' }] },
  { killed: 'when the journal has the outcome', runs: [sent] },
  { killed: 'and again before the charge', runs: [sent, { ...recover, killAt: 'before consume' }] },
  { killed: 'and again when the service has charged', runs: [sent, { ...recover, killAt: 'after consume' }] },
  { killed: 'and again when the entry is removed', runs: [sent, { ...recover, killAt: 'after removal' }] },
  { killed: 'the send failed, when the journal has the outcome', runs: [notSent] },
  { killed: 'and again when the id is reserved', runs: [notSent, { ...recover, killAt: 'after reserve' }] },
  { killed: 'and again when it is released', runs: [notSent, { ...recover, killAt: 'after release' }] },
]

/** The reservation of these was made. */
const DEAF: Case[] = [
  ...AS_DEBT,
  { killed: 'and again before the forced commit', runs: [sent, { ...recover, killAt: 'before commit' }] },
  { killed: 'and again when the service has committed', runs: [sent, { ...recover, killAt: 'after commit' }] },
]

/** Users whose message was reported as unknown by a process. */
const reported = new Set<number>()

async function runOnce(run: Omit<Run, 'url' | 'token'>): Promise<void> {
  const script = join(import.meta.dirname, 'killed-sender.ts')
  const argument = JSON.stringify({ ...run, url, token: service.senderToken })
  const child = spawn(process.execPath, [script, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect([run, code ?? signal]).toEqual([run, run.killAt === '' ? 0 : 'SIGKILL'])
  for (const line of output.split('\n')) if (line !== '') reported.add(Number(line))
}

let users = 0

/** Runs the processes of a case. */
async function runCase({ runs, network }: Case & Pick<Run, 'network'>): Promise<Run['senders'][number]> {
  users += 1
  const sender = { userId: users, path: join(folder, String(users)) }
  await admin.createQuota({ userId: sender.userId, limit: 100 })
  for (const run of runs) await runOnce({ senders: [sender], network, task: 'send', sendFails: false, ...run })
  return sender
}

/** What is charged when the reservation has expired, if it is still open. */
async function chargedTo(userId: number): Promise<{ units: number; isExpired: boolean }> {
  // To read one closes it.
  for await (const { id } of admin.each('listReservations', { userId })) await sender.getReservation({ userId, id })
  const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
  const { items } = await admin.listEvents({ userId, types: 'reservation.expired' })
  return { units: used + reserved, isExpired: items.length > 0 }
}

test('what is charged is what was sent, or is reported as unknown', async () => {
  const groups = [
    ['the service answers', 'up', ONLINE],
    ['a lease with slices of four units', 'up', LEASE],
    ['a lease, a message that takes the slice', 'up', LEASE_SPENT],
    ['no call arrives, a lease held for that', 'away', LEASE_IN_OUTAGE],
    ['the same, and the reservation is made', 'deaf', LEASE_IN_OUTAGE],
    ['no call arrives', 'away', AS_DEBT],
    ['the reservation is made, its answer is lost', 'deaf', DEAF],
  ] as const
  const all = groups.flatMap(([group, network, cases]) => cases.map(one => ({ group, network, ...one })))
  const waiting = all.entries()
  const senders: Run['senders'][number][] = []
  const worker = async () => {
    for (const [index, one] of waiting) senders[index] = await runCase(one)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  // A process for all that is not killed.
  await runOnce({ ...recover, senders, sendFails: false, killAt: '' })
  service.clock.now += 700_000

  const rows: string[] = []
  for (const [index, { group, killed, units: own = 1, isSilent }] of all.entries()) {
    const { userId, path } = senders[index] ?? expect.unreachable()
    const isSent = existsSync(`${path}.sent`)
    const { units, isExpired } = await chargedTo(userId)
    const report = reported.has(userId) ? '`onUnknown`' : isExpired ? '`reservation.expired`' : ''
    if (report === '') expect([group, killed, units]).toEqual([group, killed, isSent || isSilent ? own : 0])
    // A message that left is never free.
    if (isSent) expect([group, killed, units > 0]).toEqual([group, killed, true])
    rows.push(`| ${group} | ${killed} | ${isSent ? 'yes' : 'no'} | ${units} | ${report} |`)
  }
  await expect(page(rows)).toMatchFileSnapshot('../../docs/reference/killed-senders.md')
})

function page(rows: readonly string[]): string {
  return `# Killed senders

Generated by \`npm test -- test/client/killed-senders.long.test.ts -u\`. Do not edit.

A sender calls \`withReservation\` for a message of one unit, or sends it from a lease, and is killed (SIGKILL) at a step. With a journal, a new
process opens that and settles its debts. What is charged is what was sent, or it is reported, but for the sends that are under way when they are
committed already: those of \`withReservation\`, and of a lease whose slice is spent. Called again with the id of such a message,
\`withReservation\` answers \`sent: 'before'\`. The reports:

- \`onUnknown\` of the journal, which says "charge" here;
- the event \`reservation.expired\` of a lease, with the units of the slice.

| service | killed | sent | units charged | reported by |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}
