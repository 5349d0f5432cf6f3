/**
 * The proxy before an SMSC. The ESME and the SMSC are real ones on both sides, made with the package `smpp`, over TCP. Trials with
 * other programs are in examples/smpp/README.md.
 */
/// <reference path="../../examples/smpp/smpp.d.ts" />
import { once } from 'node:events'
import smpp, { type Pdu, type Session } from 'smpp'
import { expect, test } from 'vitest'
import { whenDone } from '../support/cleanup.ts'
import { startExample, startGate } from '../support/example.ts'
import { urlOf } from '../support/listening.ts'
import { startService } from '../support/service.ts'

const { app, call, clock, senderToken } = await startService()

const { ESME_RINVDSTADR } = smpp.errors
/** A number that the SMSC refuses. */
const REFUSED = '4915100000000'
/** The SMSC closes the connection in place of an answer to a message for this number. */
const SILENT = '4915100000001'
/** An optional parameter that the package does not know. */
const VENDOR_PARAMETER = '5120'
smpp.addTLV(VENDOR_PARAMETER, { id: 5120, type: smpp.types.tlv.buffer })

/** What the SMSC got, in order. */
const submitted: Pdu[] = []
/** The SMSC's side of the first session of each system_id. */
const sessions = new Map<string, Session>()

const smsc = smpp.createServer(session => {
  session.on('error', () => session.destroy())
  session.on('pdu', (pdu: Pdu) => {
    if (pdu.command === 'bind_transceiver') {
      if (pdu.password !== 'right') {
        session.send(pdu.response({ command_status: smpp.errors.ESME_RBINDFAIL }))
        return
      }
      if (!sessions.has(String(pdu.system_id))) sessions.set(String(pdu.system_id), session)
      session.send(pdu.response({ system_id: 'smsc' }))
    } else if (pdu.command === 'submit_sm') {
      submitted.push(pdu)
      if (pdu.destination_addr === REFUSED) session.send(pdu.response({ command_status: ESME_RINVDSTADR }))
      else if (pdu.destination_addr === SILENT) session.destroy()
      else session.send(pdu.response({ message_id: `m${submitted.length}` }))
    } else if (!pdu.isResponse()) session.send(pdu.response())
  })
})
const { port } = new URL(await urlOf(smsc))

async function startProxy(quotaUrl: string, more: Record<string, string> = {}): Promise<URL> {
  const env = {
    PORT: '0',
    USERS: '{"alice":7,"bob":8}',
    SMSC_URL: `smpp://127.0.0.1:${port}`,
    SMS_QUOTA_URL: quotaUrl,
    SMS_QUOTA_TOKEN: senderToken,
    ...more,
  }
  const line = await startExample('smpp', 'proxy.ts', env, ['smpp'])
  return new URL(line.replace('the proxy is at ', ''))
}
const service = await app.listen({ port: 0, host: '127.0.0.1' })
const proxy = await startProxy(service)
const wideProxy = startProxy(service, { SMS_REFERENCE_BITS: '16', USERS: '{"carol":9}' })
const gate = await startGate(service)
const deafProxy = await startProxy(gate.url)
/** A proxy whose sms-quota is away: nothing listens at port 1. */
const lonelyProxy = await startProxy('http://127.0.0.1:1')
await call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 8, period: 'month' } })

interface Esme {
  /** The answers of the SMSC or the proxy to these messages, in the order of the messages. */
  submit(...messages: object[]): Promise<Pdu[]>
  request(pdu: Pdu): Promise<Pdu>
  /** What was delivered to it. */
  delivered: Pdu[]
  session: Session
}

async function bind(systemId: string, password = 'right', to = proxy): Promise<Esme & { bound: Pdu }> {
  const session = smpp.connect({ host: to.hostname, port: Number(to.port) })
  whenDone(() => session.destroy())
  const request = (pdu: Pdu) => new Promise<Pdu>(resolve => session.send(pdu, resolve))
  const submit = (message: object) =>
    request(new smpp.PDU('submit_sm', { destination_addr: '4915112345678', registered_delivery: 1, ...message }))
  const delivered: Pdu[] = []
  session.on('deliver_sm', (pdu: Pdu) => {
    delivered.push(pdu)
    session.send(pdu.response())
  })
  const bound = await request(new smpp.PDU('bind_transceiver', { system_id: systemId, password }))
  return { session, request, delivered, bound, submit: (...messages) => Promise.all(messages.map(submit)) }
}

/** Delivers a receipt from the SMSC to the ESME, and resolves to the answer. */
function receipt(systemId: string, id: string, stat: string, fields: object = {}): Promise<Pdu> {
  const short_message = `id:${id} sub:001 dlvrd:001 submit date:2603151200 done date:2603151200 stat:${stat} err:000 text:Hello`
  const pdu = new smpp.PDU('deliver_sm', { esm_class: 4, short_message, ...fields })
  return new Promise(resolve => sessions.get(systemId)?.send(pdu, resolve))
}

async function counters(): Promise<Record<string, number>> {
  const { body } = await call('GET', '/api/sms/admin/quota/summary?user_id=7')
  return { used: body.used, reserved: body.reserved, remaining: body.remaining }
}

const alice = await bind('alice')

test('units are charged before a message, and refunded by its receipts', async () => {
  const answers = await alice.submit({ short_message: 'one' }, { short_message: 'two' }, { short_message: 'three' })
  expect(answers.map(answer => [answer.command_status, answer.message_id])).toEqual([
    [0, 'm1'],
    [0, 'm2'],
    [0, 'm3'],
  ])
  expect(await counters()).toEqual({ used: 3, reserved: 0, remaining: 5 })

  // Enroute is not final.
  for (const [id, stat] of [
    ['m1', 'ENROUTE'],
    ['m1', 'DELIVRD'],
    ['m2', 'UNDELIV'],
    ['m3', 'EXPIRED'],
  ] as const) {
    expect((await receipt('alice', id, stat)).command_status).toBe(0)
  }
  expect(await counters()).toEqual({ used: 1, reserved: 0, remaining: 7 })
  // Repeated and late receipts reach the ESME, too, and change nothing.
  await receipt('alice', 'm1', 'UNDELIV')
  await receipt('alice', 'm2', 'DELIVRD')
  expect(await counters()).toEqual({ used: 1, reserved: 0, remaining: 7 })
  expect(alice.delivered.map(pdu => /stat:(\w+)/.exec(JSON.stringify(pdu.short_message))?.[1])).toEqual([
    'ENROUTE',
    'DELIVRD',
    'UNDELIV',
    'EXPIRED',
    'UNDELIV',
    'DELIVRD',
  ])
})

test('names that every object has are no users', async () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    expect((await bind(name)).bound.command_status).toBe(smpp.errors.ESME_RINVSYSID)
})

test('a message without a receipt is charged when the SMSC takes it, one that it refuses is free', async () => {
  const before = await counters()
  const [taken, refused] = await alice.submit(
    { short_message: 'Hello', registered_delivery: 0 },
    { short_message: 'Hello', destination_addr: REFUSED },
  )
  expect([taken?.command_status, refused?.command_status]).toEqual([0, ESME_RINVDSTADR])
  expect(await counters()).toEqual({ ...before, used: 2, remaining: 6 })
})

test('a message that looks like a receipt settles nothing', async () => {
  const [answer] = await alice.submit({ short_message: 'Hello' })
  const before = await counters()
  await receipt('alice', String(answer?.message_id), 'UNDELIV', { esm_class: 0 })
  expect(await counters()).toEqual(before)
  // Receipts can name the message in optional parameters. 5 is undeliverable.
  const fields = { receipted_message_id: answer?.message_id, message_state: 5, short_message: '' }
  await receipt('alice', '', '', fields)
  expect(await counters()).toEqual({ used: 2, reserved: 0, remaining: 6 })
})

/** A part of a long message: a header of six octets, then the text. */
const part = (number: number, text: string) => ({
  esm_class: 0x40,
  short_message: Buffer.concat([Buffer.from([5, 0, 3, 7, 2, number]), Buffer.from(text, 'latin1')]),
})

test.each([
  ['160 characters of GSM-7', { data_coding: 0, short_message: 'x'.repeat(160) }, 1],
  ['161 characters of GSM-7', { data_coding: 0, short_message: 'x'.repeat(161) }, 2],
  ['70 characters of UCS-2', { data_coding: 8, short_message: 'ж'.repeat(70) }, 1],
  ['71 characters of UCS-2', { data_coding: 8, short_message: 'x'.repeat(71) }, 2],
  ['140 octets', { data_coding: 4, short_message: Buffer.alloc(140, 200) }, 1],
  ['a part of a long message', { data_coding: 0, ...part(1, 'x'.repeat(153)) }, 1],
  ['a text in message_payload', { data_coding: 0, message_payload: Buffer.alloc(459, 'x') }, 3],
])('%s', async (_, message, units) => {
  const before = await counters()
  const [answer] = await alice.submit(message)
  expect(await counters()).toMatchObject({ used: Number(before.used) + units })
  await receipt('alice', String(answer?.message_id), 'UNDELIV')
  expect(await counters()).toEqual(before)
})

test('with references of 16 bits, a part holds 152 characters of GSM-7 or 66 of UCS-2', async () => {
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 9, limit: 20, period: 'month' } })
  const carol = await bind('carol', 'right', await wideProxy)
  const used: number[] = []
  for (const [data_coding, octets] of [
    [0, 304],
    [0, 305],
    [8, 264],
    [8, 266],
  ]) {
    await carol.submit({ data_coding, message_payload: Buffer.alloc(octets ?? 0, 'x') })
    const { body } = await call('GET', '/api/sms/admin/quota/summary?user_id=9')
    used.push(body.used)
  }
  expect(used).toEqual([2, 5, 7, 10])
})

test('the SMSC gets the octets of the ESME', async () => {
  const message = {
    ...part(2, 'Gr\xfc\xdfe'),
    data_coding: 3,
    validity_period: '000003000000000R',
    source_addr: '456',
    // Of a vendor.
    [VENDOR_PARAMETER]: Buffer.from('id-1'),
  }
  await alice.submit(message)
  const sent = submitted.at(-1)
  expect(sent).toMatchObject({ data_coding: 3, esm_class: 0x40, source_addr: '456' })
  expect(sent?.short_message).toEqual({ udh: [Buffer.from([0, 3, 7, 2, 2])], message: 'Grüße' })
  expect(sent?.[VENDOR_PARAMETER]).toEqual(Buffer.from('id-1'))
})

test('a denied message does not reach the SMSC', async () => {
  const before = submitted.length
  const [long, invalid, ...rest] = await alice.submit(
    { message_payload: Buffer.alloc(153 * 9, 'x') },
    { short_message: 'Hello', destination_addr: 'nobody' },
  )
  expect([long?.command_status, invalid?.command_status, rest]).toEqual([
    smpp.errors.ESME_RSUBMITFAIL,
    ESME_RINVDSTADR,
    [],
  ])
  const bob = await bind('bob')
  expect((await bob.submit({ short_message: 'Hello' }))[0]?.command_status).toBe(smpp.errors.ESME_RSUBMITFAIL)
  const multi = new smpp.PDU('submit_multi', { short_message: 'Hello' })
  expect(await bob.request(multi)).toMatchObject({ command_status: smpp.errors.ESME_RINVCMDID })
  expect(submitted.length).toBe(before)
})

test('the SMSC checks passwords, and the proxy knows whose quotas pay', async () => {
  expect((await bind('bob', 'wrong')).bound.command_status).toBe(smpp.errors.ESME_RBINDFAIL)
  expect((await bind('mallory')).bound.command_status).toBe(smpp.errors.ESME_RINVSYSID)
})

test('while sms-quota is away, ESMEs are asked to try again', async () => {
  const before = submitted.length
  const [answer] = await (await bind('alice', 'right', lonelyProxy)).submit({ short_message: 'Hello' })
  expect(answer?.command_status).toBe(smpp.errors.ESME_RTHROTTLED)
  expect(submitted.length).toBe(before)
})

test('an ESME that tries again because an answer of sms-quota was late pays once', async () => {
  const before = await counters()
  gate.losses = Number.POSITIVE_INFINITY
  const bob = await bind('alice', 'right', deafProxy)
  const [late] = await bob.submit({ short_message: 'Hello' })
  expect(late?.command_status).toBe(smpp.errors.ESME_RTHROTTLED)
  gate.losses = 0
  const [answer] = await bob.submit({ short_message: 'Hello', registered_delivery: 0 })
  expect(answer?.command_status).toBe(0)
  clock.now += 4 * 86_400_000
  const { body } = await call('GET', '/api/sms/admin/quota/reservations?user_id=7')
  for (const { id } of body.items) {
    await call('GET', `/api/sms/sender/quota/reservations/7/${id}`, { token: senderToken })
  }
  expect(await counters()).toMatchObject({ used: Number(before.used) + 1, reserved: 0 })
})

test('both connections are checked and end together', async () => {
  expect((await alice.request(new smpp.PDU('enquire_link'))).command).toBe('enquire_link_resp')
  const before = await counters()
  const closed = once(alice.session, 'close')
  void alice.submit({ short_message: 'Hello', destination_addr: SILENT })
  await closed
  // It is not known whether the SMSC has the message, so it stays charged.
  expect(await counters()).toMatchObject({ used: Number(before.used) + 1 })
})
