/** A sender that ends itself with SIGKILL at one step. Run by killed-senders.test.ts. */
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type Journal } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'

/** What one process does, as its argument says in JSON. */
export interface Run {
  readonly url: string
  readonly token: string
  readonly senders: readonly { readonly userId: number; readonly path: string }[]
  /** `spend` sends from a lease. `recover` settles the debts of an earlier process. */
  readonly task: 'send' | 'spend' | 'recover'
  /** `away`: no call arrives. `deaf`: reservations arrive, and their answers do not. */
  readonly network: 'up' | 'away' | 'deaf'
  readonly sendFails: boolean
  readonly killAt: string
}

const run = JSON.parse(process.argv[2] ?? '') as Run
const { url, token, network } = run

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

async function callWithSteps(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  const called = String(input).replace(/^.*\//, '')
  // A lease commits and releases in one batch.
  const operation = called === 'batch' ? 'settlement' : called
  step(`before ${operation}`)
  // As a proxy answers whose service does not.
  const away = new Response('', { status: 503, headers: { 'retry-after': '60' } })
  if (network === 'away' || (network === 'deaf' && operation !== 'reserve')) return away
  const answer = await fetch(input, init)
  const text = await answer.text()
  step(`after ${operation}`)
  return network === 'deaf' ? away : new Response(text, answer)
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
  } else if (run.task === 'spend') {
    const lease = client.lease({ userId, units: 4 })
    await lease.spend()
    send()
    await lease.close()
    step('end')
  }
  while (journal.debts().length > 0) await pause(2)
  await journal.close()
}

await Promise.all(run.senders.map(work))
