/** The settings of how segments are counted hold in everything that counts: service, batch, check, agent, fake server, console. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent } from '../../src/cli/remote/agent/agent.ts'
import { createFakeServer } from '../../src/fake/main.ts'
import { whenDone } from '../support/cleanup.ts'
import { startSender } from './sender-fixture.ts'

const env = { SEGMENTATION: 'code-units', SMS_REFERENCE_BITS: '16', SMS_SHIFT_TABLES: 'turkish' }
const segments = { split: 'code-units', referenceBits: 16, shiftTables: ['turkish'] } as const

const { app, ask, allow, call, senderToken } = await startSender({ env })
await allow({ user_id: 7, limit: 1_000_000 })
const fake = await createFakeServer({ segments })
whenDone(() => fake.close())
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const service = { url: [url], token: senderToken }
const place = { host: '127.0.0.1', port: 0 }
const folder = await mkdtemp(join(tmpdir(), 'segment-rules-'))
whenDone(() => rm(folder, { recursive: true, force: true }))
const journal = { path: join(folder, 'journal'), types: 'all', onUnknown: 'charge' } as const
const common = { service, place, log() {}, timeoutMs: 20_000 }
let isAway = false
/** Allows messages with debt, since the service is away. It has answered once before. */
const owing = await startAgent({
  ...common,
  debts: journal,
  leases: undefined,
  async fetch(input, init) {
    if (isAway) return new Response('', { status: 503, headers: { 'retry-after': '60' } })
    return fetch(input, init)
  },
})
const leasing = await startAgent({ ...common, debts: undefined, leases: { types: 'all', units: 600 } })
whenDone(() => Promise.all([owing.close(), leasing.close()]))

const to = '+4915112345678'
let calls = 0
await post(owing.address, 'check', { user_id: 7, units: 1 })
isAway = true

async function post(base: string, op: string, body: object, token?: string): Promise<{ status: number; body: Answer }> {
  const answer = await fetch(`${base}/api/sms/sender/quota/${op}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

interface Answer {
  segments?: number
  encoding?: string
  units?: number
  errors?: { message: string }[]
}

/** What each says that a text takes, or why it refuses it. */
async function answersTo(text: string): Promise<[path: string, said: unknown][]> {
  const message = { to, text }
  const answers: [string, unknown][] = []
  const note = (path: string, { segments, errors }: Answer) => answers.push([path, errors?.[0]?.message ?? segments])
  for (const op of ['check', 'reserve', 'consume']) {
    calls += 1
    const body = { user_id: 7, message, ...(op === 'check' ? {} : { id: `single-${calls}` }) }
    const inBatch = { op, ...body, ...(op === 'check' ? {} : { id: `batch-${calls}` }) }
    note(op, (await ask(op, body)).body)
    note(`batch ${op}`, (await ask('batch', { operations: [inBatch] })).body.results[0].body)
    note(`fake ${op}`, (await post(fake.url, op, body, fake.token)).body)
    if (op !== 'check') note(`agent with debt ${op}`, (await post(owing.address, op, body)).body)
  }
  note(
    'check of an administrator',
    (await call('POST', '/api/sms/admin/quota/check', { body: { user_id: 7, message } })).body,
  )
  // The first goes to the service, the others may be paid from a lease.
  for (const n of [1, 2, 3]) {
    calls += 1
    note(`lease ${n}`, (await post(leasing.address, 'consume', { user_id: 7, id: `lease-${calls}`, message })).body)
  }
  return answers
}

const BOUND = 'must fit into 255 SMS, which hold 38760 septets (GSM-7) or 16830 16-bit units (UCS-2)'

test.each<[name: string, text: string, segments: number | null]>([
  ['an emoji on the border of two parts', `${'я'.repeat(65)}😀${'я'.repeat(65)}`, 2],
  ['a family there', `${'я'.repeat(65)}👩‍👩‍👧‍👦${'я'.repeat(56)}`, 2],
  ['a part of 67 units', 'я'.repeat(133), 3],
  ['a part of 153 septets', 'x'.repeat(305), 3],
  ['Turkish letters', `ş${'x'.repeat(153)}`, 1],
  ['more of them', `ş${'x'.repeat(154)}`, 2],
  ['the longest text of GSM-7', 'x'.repeat(38_760), 255],
  ['a septet more', 'x'.repeat(38_761), null],
  ['the longest text of UCS-2', '😀'.repeat(8_415), 255],
  ['a unit more', `${'😀'.repeat(8_415)}я`, null],
])('%s', async (_name, text, expected) => {
  const answers = await answersTo(text)
  expect(answers).toEqual(answers.map(([path]) => [path, expected ?? BOUND]))
})

test('what is charged is what was counted', async () => {
  await allow({ user_id: 8, limit: 10 })
  const message = { to, text: `${'я'.repeat(65)}😀${'я'.repeat(65)}` }
  const { body } = await ask('consume', { user_id: 8, id: 'charged', message })
  expect(body).toMatchObject({ units: 2, segments: 2, encoding: 'UCS-2', remaining: 8 })
})

test('the console gets the settings, to count in the browser', async () => {
  expect((await app.inject('/console/config.json')).json()).toEqual({
    oidc: null,
    segments,
    contact: { text: null, url: null },
  })
})
