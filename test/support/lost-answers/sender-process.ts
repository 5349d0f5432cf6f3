/** A sender that reads on its input what to send, and writes what its client answered. Run by process-sender.ts. */
import { createInterface } from 'node:readline'
import { createClient } from '../../../client/src/main.ts'
import { openJournal } from '../../../client/src/node/journal.ts'
import { nameOf } from './message.ts'
import type { Order, Reply, Run } from './process-sender.ts'
import { ask, type SendOutcome, sentOrThrow } from './send-outcome.ts'

const run = JSON.parse(process.argv[2] ?? '') as Run
const { url, token, timeoutMs, onUnavailable } = run
const journal = run.journal === null ? undefined : await openJournal(run.journal, { onUnknown: () => 'charge' })
const client = createClient({
  url,
  token,
  timeoutMs,
  senderTimeoutMs: timeoutMs,
  onUnavailable,
  ...(journal === undefined ? {} : { journal }),
})

async function carryOut(order: Order): Promise<SendOutcome | null> {
  if (order.op === 'close') {
    await client.close().catch(() => {})
    return null
  }
  const { userId, id, units, type: by } = order
  return ask(client, order, async () => {
    const answer = await fetch(run.provider, { method: 'POST', body: JSON.stringify({ userId, id, units, by }) })
    return sentOrThrow(await answer.json())
  })
}

createInterface({ input: process.stdin })
  .on('line', async line => {
    const order = JSON.parse(line) as Order
    const outcome = await carryOut(order)
    const reply: Reply = {
      call: order.call,
      outcome,
      unsettled: client.unsettled().map(({ userId = 0, id }) => nameOf({ userId, id })),
      debts: journal?.debts().length ?? 0,
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`)
  })
  .on('close', async () => {
    await journal?.close()
    process.exit()
  })
