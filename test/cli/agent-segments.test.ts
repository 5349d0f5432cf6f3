/** An agent counts the segments of texts as its service does, which says in its answers how. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type Agent, startAgent } from '../../src/cli/remote/agent/agent.ts'
import { readSegmentRules, SEGMENTS_HEADER, writeSegmentRules } from '../../src/contract/segments-header.ts'
import { DEFAULT_SEGMENT_RULES, SHIFT_TABLES } from '../../src/domain/messages/segment-rules.ts'
import { createFakeServer } from '../../src/fake/main.ts'
import { post, spawnAgent } from '../support/agent.ts'
import { whenDone } from '../support/cleanup.ts'
import { startService } from '../support/service.ts'

const env = { SEGMENTATION: 'code-units', SMS_REFERENCE_BITS: '16', SMS_SHIFT_TABLES: 'turkish,spanish' }
const SAID = 'split=code-units, reference-bits=16, shift-tables=(turkish spanish)'
const { app, call, senderToken } = await startService({ env })
const url = await app.listen({ port: 0, host: '127.0.0.1' })
let users = 0

async function someone(): Promise<number> {
  users += 1
  const { status } = await call('POST', '/api/sms/admin/quota', { body: { user_id: users, limit: 1_000_000 } })
  expect(status).toBe(201)
  return users
}

async function counted(userId: number): Promise<number> {
  return (await call('GET', `/api/sms/admin/quota/summary?user_id=${userId}`)).body.used
}

async function start(more: Partial<Parameters<typeof startAgent>[0]> = {}) {
  /** `said` replaces what the service says of its segments; null: it says nothing. */
  const running: { said?: string | null; isAway: boolean; lines: string[] } = { isAway: false, lines: [] }
  const agent: Agent = await startAgent({
    service: { url: [url], token: senderToken },
    place: { host: '127.0.0.1', port: 0 },
    debts: undefined,
    leases: { types: 'all', units: 100 },
    timeoutMs: 20_000,
    log: line => running.lines.push(line),
    async fetch(input, init) {
      if (running.isAway) return new Response('', { status: 503, headers: { 'retry-after': '60' } })
      const answer = await fetch(input, init)
      if (running.said === undefined) return answer
      const headers = new Headers(answer.headers)
      if (running.said === null) headers.delete(SEGMENTS_HEADER)
      else headers.set(SEGMENTS_HEADER, running.said)
      return new Response(await answer.text(), { status: answer.status, headers })
    },
    ...more,
  })
  whenDone(() => agent.close())
  return { agent, address: agent.address, running }
}

const to = '+4915112345678'
/** A grapheme of 14 units. */
const SCOTLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'
/** By the service's settings and by those of the default. */
const TEXTS: [name: string, text: string, units: number, byDefault: number][] = [
  ['flags on the borders of parts', SCOTLAND.repeat(9), 2, 3],
  ['a part of 67 units', 'я'.repeat(133), 3, 2],
  ['a part of 153 septets', 'x'.repeat(305), 3, 2],
  ['Turkish letters', `ş${'x'.repeat(153)}`, 1, 3],
  ['Spanish letters', `á${'x'.repeat(153)}`, 1, 3],
]

let messages = 0
async function consume(address: string, user_id: number, content: object, id?: string) {
  messages += 1
  const { status, body } = await post(address, 'consume', { user_id, id: id ?? `m-${messages}`, ...content })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Sends until a lease pays, or 25 times. @returns the units of each message, and whether a lease has paid one */
async function send(address: string, userId: number, content: object): Promise<{ units: number[]; isPaid: boolean }> {
  const units: number[] = []
  for (let n = 0; n < 25; n++) {
    const body = await consume(address, userId, content)
    units.push(body.units)
    if (body.lease === true) return { units, isPaid: true }
  }
  return { units, isPaid: false }
}

test.each(TEXTS)('a lease charges what the service counts: %s', async (_name, text, expected) => {
  const { agent, address, running } = await start()
  const owner = await someone()
  const { units, isPaid } = await send(address, owner, { message: { to, text } })
  expect([isPaid, new Set(units)]).toEqual([true, new Set([expected])])
  await agent.close()
  expect(await counted(owner)).toBe(units.length * expected)
  expect(running.lines).toEqual([])
})

test('the environment of the agent has no say', async () => {
  const owner = await someone()
  const [child, address] = await spawnAgent(url, senderToken, ['--lease', 'all'], {
    SEGMENTATION: 'graphemes',
    SMS_REFERENCE_BITS: 'none',
  })
  whenDone(async () => child.kill())
  const { units, isPaid } = await send(address, owner, { message: { to, text: TEXTS[0]?.[1] } })
  expect([isPaid, new Set(units)]).toEqual([true, new Set([2])])
})

test.each([null, 'split=words, reference-bits=8, shift-tables=()', `${SAID}, hyphens=soft`])(
  'as long as the service does not say how it counts (%s), leases pay units, and no text',
  async said => {
    const { agent, address, running } = await start()
    running.said = said
    const owner = await someone()
    const message = { to, text: TEXTS[0]?.[1] }
    const texts = await send(address, owner, { message })
    expect([texts.isPaid, new Set(texts.units)]).toEqual([false, new Set([2])])
    const plain = await send(address, owner, { units: 1, country: 'DE' })
    expect(plain.isPaid).toBe(true)
    expect(running.lines).toEqual([
      expect.stringMatching(/^the service .*: leases pay for no text; run the agent of the service's version$/),
    ])

    // A text that the service has charged stays there when the agent knows how to count it.
    await consume(address, owner, { message }, 'before')
    delete running.said
    const later = await send(address, owner, { message })
    expect(later.isPaid).toBe(true)
    expect(await consume(address, owner, { message }, 'before')).toMatchObject({
      replayed: true,
      draws: [{ units: 2 }],
    })
    await agent.close()
    const charged = [...texts.units, ...plain.units, 2, ...later.units].reduce((sum, units) => sum + units)
    expect(await counted(owner)).toBe(charged)
  },
)

test('when the settings of the service change, the agent follows with the next answer', async () => {
  const { address, running } = await start()
  const owner = await someone()
  const message = { to, text: TEXTS[0]?.[1] }
  expect((await send(address, owner, { message })).isPaid).toBe(true)
  expect(await consume(address, owner, { message }, 'old')).toMatchObject({ units: 2, lease: true })
  running.said = writeSegmentRules(DEFAULT_SEGMENT_RULES)
  await post(address, 'check', { user_id: owner, units: 1 })
  expect(await consume(address, owner, { message })).toMatchObject({ units: 3, lease: true })
  // What is paid is paid as it was counted.
  expect(await consume(address, owner, { message }, 'old')).toMatchObject({ units: 2, lease: true, replayed: true })
  running.said = 'of another kind'
  await post(address, 'check', { user_id: owner, units: 1 })
  expect(await consume(address, owner, { message })).not.toHaveProperty('lease')
  expect(await consume(address, owner, { message }, 'old')).toMatchObject({ units: 2, lease: true, replayed: true })
})

test('the longest text is refused by the service, also by an agent that does not know how it counts', async () => {
  const { address, running } = await start()
  running.said = null
  const owner = await someone()
  const longest = '😀'.repeat(8_415)
  expect(await consume(address, owner, { message: { to, text: longest } })).toMatchObject({ units: 255, segments: 255 })
  const refused = await post(address, 'consume', { user_id: owner, id: 'long', message: { to, text: `${longest}я` } })
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: '/message/text' }] } })
})

test('a debt is counted as the service counts, once it has answered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-segments-'))
  whenDone(() => rm(folder, { recursive: true, force: true }))
  const debts = { path: join(folder, 'journal'), types: 'all', onUnknown: 'charge' } as const
  const { address, running } = await start({ debts, leases: undefined })
  const owner = await someone()
  const allowed = async () => {
    running.isAway = true
    const units: number[] = []
    for (const [, text] of TEXTS) {
      const body = await consume(address, owner, { message: { to, text } })
      expect(body).toMatchObject({ debt: true })
      units.push(body.units)
    }
    running.isAway = false
    return units
  }
  expect(await allowed()).toEqual(TEXTS.map(([, , , byDefault]) => byDefault))
  await vi.waitFor(async () => expect((await post(address, 'check', { user_id: owner, units: 1 })).status).toBe(200))
  expect(await allowed()).toEqual(TEXTS.map(([, , units]) => units))
})

test('every answer to a sender says it, those of the fake server, too', async () => {
  const fake = await createFakeServer({
    segments: { split: 'code-units', referenceBits: 16, shiftTables: ['turkish', 'spanish'] },
  })
  whenDone(() => fake.close())
  const operations = [{ op: 'check', user_id: 1, units: 1 }]
  const calls: [op: string, body: object, status: number][] = [
    ['check', { user_id: 1, units: 1 }, 200],
    ['batch', { operations }, 200],
    ['consume', { user_id: 1 }, 400],
    ['commit', { user_id: 1, id: 'unknown' }, 404],
  ]
  for (const [op, body, status] of calls) {
    for (const [base, token] of [[url, senderToken], ...(status === 200 ? [[fake.url, fake.token]] : [])]) {
      const answer = await fetch(`${base}/api/sms/sender/quota/${op}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      })
      expect([answer.status, answer.headers.get(SEGMENTS_HEADER)], `${base} ${op}`).toEqual([status, SAID])
    }
  }
})

test('what the service writes is read as the same; anything else is not known', () => {
  for (const split of ['graphemes', 'code-units'] as const) {
    for (const referenceBits of [8, 16] as const) {
      for (const shiftTables of [[], ['turkish'], ['portuguese', 'spanish'], SHIFT_TABLES] as const) {
        const rules = { split, referenceBits, shiftTables }
        expect(readSegmentRules(writeSegmentRules(rules))).toEqual(rules)
      }
    }
  }
  const others = ['', 'split=graphemes', SAID.toUpperCase(), ` ${SAID}`, `${SAID}, ${SAID}`, SAID.replace('16', '7')]
  const tables = ['(greek)', '(turkish greek)', '(turkish  spanish)', '( turkish)', '()()', '']
  for (const text of [...others, ...tables.map(table => SAID.replace(/\(.*\)/, table))]) {
    expect(readSegmentRules(text), text).toBeNull()
  }
})
