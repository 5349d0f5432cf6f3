/** A sender that ends itself with SIGKILL at one step. Run by killed-senders.test.ts. */
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient, type Journal, type Lease } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'

/** What one process does, as its argument says in JSON. */
export interface Run {
  readonly url: string
  readonly token: string
  readonly senders: readonly { readonly userId: number; readonly path: string }[]
  /**
   * `spend` sends from a lease with slices of four units; `ahead`, when that has asked for the next slice; `settled`, when all of
   * the slice is spent and committed. `outage` sends from a lease that was held for an outage. `recover` settles the debts of an
   * earlier process.
   */
  readonly task: 'send' | 'spend' | 'ahead' | 'settled' | 'outage' | 'recover'
  /** `away`: no call arrives. `deaf`: reservations arrive, and their answers do not. */
  readonly network: 'up' | 'away' | 'deaf'
  readonly sendFails: boolean
  readonly killAt: string
}

const run = JSON.parse(process.argv[2] ?? '') as Run
const { url, token } = run
let network = run.task === 'outage' ? 'up' : run.network
const SLICE = 4

function step(name: string): void {
  if (name === run.killAt) process.kill(process.pid, 'SIGKILL')
}

/** The journal, with steps around what it writes. */
function stepped(journal: Journal): Journal {
  return {
    ...journal,
    async begin(request) {
      step('before entry')
      const end = await journal.begin(request)
      step('after entry')
      return async outcome => {
        await end(outcome)
        step('after outcome')
      }
    },
    async remove(debts) {
      await journal.remove(debts)
      step('after removal')
    },
  }
}

/** Calls of each operation, and those that were answered. */
const [called, answered] = [new Map<string, number>(), new Map<string, number>()]

/** @returns how many that makes */
function count(counts: Map<string, number>, operation: string): number {
  const number = (counts.get(operation) ?? 0) + 1
  counts.set(operation, number)
  return number
}

async function isAnswered(operation: string, times: number): Promise<void> {
  while ((answered.get(operation) ?? 0) < times) await pause(2)
}

async function callWithSteps(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  const path = String(input).replace(/^.*\//, '')
  // A lease commits and releases in one batch.
  const operation = path === 'batch' ? 'settlement' : path
  const number = count(called, operation)
  const name = number === 1 ? operation : `${operation} ${number}`
  step(`before ${name}`)
  // As a proxy answers whose service does not.
  const away = new Response('', { status: 503, headers: { 'retry-after': '60' } })
  if (network === 'away' || (network === 'deaf' && operation !== 'reserve')) return away
  const answer = await fetch(input, init)
  const text = await answer.text()
  step(`after ${name}`)
  count(answered, operation)
  return network === 'deaf' ? away : new Response(text, answer)
}

/** Sends a message that a lease pays. */
async function spend(lease: Lease, send: () => void): Promise<void> {
  if (run.task === 'ahead') await lease.spend(SLICE / 2)
  const units = run.task === 'settled' ? SLICE : 1
  await lease.spend(units)
  if (run.task === 'ahead') await isAnswered('reserve', 2)
  if (run.task === 'settled') await isAnswered('commit', 1)
  try {
    send()
  } catch {
    lease.giveBack(units)
  }
  await lease.close()
}

/** Sends a message that a lease pays, because the service is away. An earlier one, which was not sent, has filled the lease. */
async function sendInOutage(client: Client, userId: number, send: () => void): Promise<void> {
  const input = { userId, units: 1 }
  const options = { onUnavailable: 'lease' } as const
  const fail = async () => {
    await isAnswered('reserve', 2)
    throw new Error('no route')
  }
  await client.withReservation({ ...input, id: 'first' }, fail, options).catch(() => {})
  network = run.network
  await client.withReservation({ ...input, id: 'm' }, send, options)
  network = 'up'
  while (
    await client.close().then(
      () => false,
      () => true,
    )
  )
    await pause(2)
}

/** Sends one message, or settles the debts of an earlier process. */
async function work({ userId, path }: Run['senders'][number]): Promise<void> {
  const journal = await openJournal(path, {
    onUnknown() {
      process.stdout.write(`${userId}\n`)
      return 'charge'
    },
  })
  const client = createClient({
    url,
    token,
    journal: stepped(journal),
    onUnavailable: 'allow-with-debt',
    outageLease: { units: SLICE },
    senderTimeoutMs: 10_000,
    fetch: callWithSteps,
  })
  const send = () => {
    step('before send')
    if (run.sendFails) throw new Error('no route')
    // What the provider has it has for good: a file survives the process.
    appendFileSync(`${path}.sent`, 'm\n')
    step('after send')
  }
  if (run.task === 'send') {
    await client.withReservation({ userId, id: 'm', units: 1 }, send).catch(() => {})
    step('end')
  } else if (run.task === 'outage') {
    await sendInOutage(client, userId, send)
    step('end')
  } else if (run.task !== 'recover') {
    await spend(client.lease({ userId, units: SLICE }), send)
    step('end')
  }
  while (journal.debts().length > 0) await pause(2)
  await journal.close()
}

await Promise.all(run.senders.map(work))
