/**
 * One message through a network that loses, delays or doubles the calls of one operation, or a proxy that answers them: what is sent,
 * what is charged in the end, and what the caller is answered. Writes docs/reference/lost-answers.md with `-u`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Client, createClient, QuotaError, type Sent } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'lost-answers-'))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true, force: true })
})
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })

const TIMEOUT_MS = 1_500
const PARALLEL = 16
const UNITS = 2

const NETWORKS = [
  'request lost',
  'request late',
  'answer lost',
  'answer late',
  'doubled, the second answered',
  '401 of a proxy',
  '422 of a proxy',
  '429 of a proxy',
  '502 of a proxy',
] as const
type Network = (typeof NETWORKS)[number]

const WAYS = [
  '`withReservation`',
  "`withReservation`, `onExpiry: 'release'`",
  "`withReservation`, `onUnavailable: 'allow-with-debt'`",
  "`withReservation`, `onUnavailable: 'lease'`",
  'a lease',
] as const
type Way = (typeof WAYS)[number]

const OPERATIONS = ['reserve', 'commit'] as const
type Operation = (typeof OPERATIONS)[number]

interface Case {
  readonly way: Way
  readonly operation: Operation
  readonly network: Network
}

interface Row {
  readonly sends: number
  readonly charged: number
  readonly answer: string
}

/** A network that fails the calls of an operation while it is broken. */
function brokenNetwork({ operation, network }: Case) {
  const late: Promise<unknown>[] = []
  const state = { isBroken: false }
  const through: typeof fetch = async (input, init) => {
    const isOf = String(input).endsWith(`/${operation}`) || String(init?.body).includes(`"op":"${operation}"`)
    if (!state.isBroken || !isOf) return fetch(input, init)
    const { signal: _, ...rest } = init ?? {}
    const forward = () => fetch(input, rest)
    const tooLate = () => new Promise<never>((_, reject) => init?.signal?.addEventListener('abort', reject))
    switch (network) {
      case 'request lost':
        throw new TypeError('no route')
      case 'request late':
        late.push(tooLate().catch(forward))
        return tooLate()
      case 'answer lost':
        await (await forward()).arrayBuffer()
        throw new TypeError('cut off')
      case 'answer late':
        late.push(forward())
        return tooLate()
      case 'doubled, the second answered':
        await (await forward()).arrayBuffer()
        return forward()
      default:
        return new Response('', { status: Number.parseInt(network, 10) })
    }
  }
  return { state, through, late }
}

let users = 0

async function run(one: Case): Promise<Row> {
  users += 1
  const userId = users
  await admin.createQuota({ userId, limit: 100 })
  const { state, through, late } = brokenNetwork(one)
  const journal = await openJournal(join(folder, String(userId)), { onUnknown: () => 'charge' })
  const client = createClient({
    url,
    token: service.senderToken,
    senderTimeoutMs: TIMEOUT_MS,
    fetch: through,
    journal,
    outageLease: { units: 5 },
  })
  if (one.way.includes("'lease'")) {
    const options = { onUnavailable: 'lease', timeoutMs: 60_000 } as const
    await client.withReservation({ userId, id: 'before', units: 1 }, () => 'sent', options)
    await expect.poll(async () => (await admin.summarizeQuotasOfUser({ userId })).reserved).toBe(5)
  }
  let sends = 0
  const send = () => sends++
  state.isBroken = true
  const answer = await (one.way === 'a lease' ? spend(client, userId, send, state) : ask(client, userId, send, one.way))
  state.isBroken = false
  await Promise.all(late)
  await expect.poll(() => journal.debts(), { timeout: 60_000 }).toEqual([])
  await expect.poll(() => client.close().then(() => 'closed', String), { timeout: 60_000 }).toBe('closed')
  await journal.close()
  return { sends, charged: userId, answer }
}

async function ask(client: Client, userId: number, send: () => number, way: Way): Promise<string> {
  const input = {
    userId,
    id: 'm',
    units: UNITS,
    ...(way.includes('release') ? ({ onExpiry: 'release' } as const) : {}),
  }
  const onUnavailable = way.includes('debt') ? 'allow-with-debt' : way.includes("'lease'") ? 'lease' : 'deny'
  return client.withReservation(input, send, { onUnavailable }).then(toldOf, failureOf)
}

/** The commit of a lease follows the send. */
async function spend(
  client: Client,
  userId: number,
  send: () => number,
  state: { isBroken: boolean },
): Promise<string> {
  const lease = client.lease({ userId, units: 4 })
  const answer = await lease.spend(UNITS).then(({ granted }) => {
    if (granted) send()
    return `\`granted: ${granted}\``
  }, failureOf)
  const closed = await lease.close().then(
    () => '',
    error => `, and of \`close\`: ${failureOf(error)}`,
  )
  state.isBroken = false
  await expect.poll(() => lease.close().then(() => 'closed', String), { timeout: 60_000 }).toBe('closed')
  return answer + closed
}

function toldOf(result: Sent<unknown>): string {
  if (!result.granted) return '`granted: false`'
  if (result.sent !== true) return `\`sent: '${result.sent}'\``
  if (result.settled !== null) return '`sent: true`'
  return `\`sent: true\`, \`settled: null\`${result.isDebt ? ', `isDebt`' : result.isLeased ? ', `isLeased`' : ''}`
}

function failureOf(error: unknown): string {
  if (error instanceof QuotaError) return `\`QuotaError\` (${error.code})`
  return `\`${error instanceof Error ? error.name : String(error)}\``
}

test('what is charged is what was sent, with any fault of the network', async () => {
  const all: Case[] = WAYS.flatMap(way =>
    OPERATIONS.flatMap(operation => NETWORKS.map(network => ({ way, operation, network }))),
  )
  const waiting = all.entries()
  const rows: Row[] = []
  const worker = async () => {
    for (const [index, one] of waiting) rows[index] = await run(one)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  service.clock.now += 3_600_000

  const lines: string[] = []
  for (const [index, { way, operation, network }] of all.entries()) {
    const { sends, charged: userId, answer } = rows[index] ?? expect.unreachable()
    // To read one closes it.
    for await (const { id } of admin.each('listReservations', { userId })) await sender.getReservation({ userId, id })
    const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
    const charged = used - (way.includes("'lease'") ? 1 : 0)
    const isListed = answer.includes("'unknown'")
    expect({ way, operation, network, charged, reserved }).toEqual({
      ...{ way, operation, network, reserved: 0 },
      charged: isListed ? charged : sends * UNITS,
    })
    lines.push(`| ${way} | ${operation} | ${network} | ${sends === 1 ? 'yes' : 'no'} | ${charged} | ${answer} |`)
  }
  await expect(page(lines)).toMatchFileSnapshot('../../docs/reference/lost-answers.md')
})

function page(lines: readonly string[]): string {
  return `# Lost answers

Generated by \`npm test -- test/client/lost-answers.long.test.ts -u\`. Do not edit.

A sender sends one message of ${UNITS} units, and the network does something to all calls of one operation until the caller has its answer; then it is
well again, and the client is closed. A message with \`sent: 'unknown'\` was not sent here: another process with the same id may have, and
the service cannot tell. Apart from these, what is charged is what was sent.

- *late* is after the deadline of the call. A late request is carried out then.
- A proxy that repeats a request passes the second answer on.
- The proxy's own answers are pages, not those of the service.
- A lease commits after the send, when it is closed; \`close\` is called again when the network is well.

| sent with | operation | network | sent | units charged | what the caller is answered |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}
`
}
