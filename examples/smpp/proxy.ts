/**
 * A proxy between SMPP clients (ESMEs) and an SMSC: it takes the units of each submit_sm, passes it on, and refunds them by
 * submit_sm_resp and the delivery receipt. README.md says how to run it.
 */
import type { AddressInfo } from 'node:net'
import smpp, { type Pdu, type Session } from 'smpp'
import { createClient, QuotaError, UnavailableError, UnknownIfSent } from 'sms-quota-client'

const { PORT = '2776', SMSC_URL = 'smpp://127.0.0.1:2775', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Whose quotas pay: the sms-quota user id of each `system_id`. */
const USERS = new Map<string, number>(Object.entries(JSON.parse(process.env.USERS ?? '{}')))
const quota = createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '' })
const { hostname, port } = new URL(SMSC_URL)

/** An SMSC that does not answer a message for so long is given up: the proxy closes both connections. */
const SMSC_TIMEOUT_MS = 30_000
/** Messages of one ESME under way. The proxy reads no more until one is answered. */
const MAX_PENDING = 100
/** Messages that wait for a receipt. Beyond it the oldest is forgotten, and stays charged. */
const MAX_AWAITED = 100_000

/** ESMEs take ESME_RSUBMITFAIL as final. After ESME_RTHROTTLED they wait and try again. */
const { ESME_RSUBMITFAIL, ESME_RTHROTTLED, ESME_RINVDSTADR, ESME_RINVCMDID, ESME_RINVSYSID, ESME_RBINDFAIL } =
  smpp.errors
const BINDS = ['bind_transceiver', 'bind_transmitter', 'bind_receiver']
/** Final receipts, by their `stat` or message_state. After the others, such as ENROUTE and UNKNOWN, one may follow. */
const DELIVERED = ['DELIVRD', 'ACCEPTD', '2', '6']
const FAILED = ['EXPIRED', 'DELETED', 'UNDELIV', 'REJECTD', '3', '4', '5', '8']

// PDUs are passed on as they came. By default, the package decodes texts and times, and encodes them differently.
for (const name of ['short_message', 'schedule_delivery_time', 'validity_period']) {
  for (const command of ['submit_sm', 'deliver_sm']) delete smpp.commands[command]?.params?.[name]?.filter
}
delete smpp.tlvs.message_payload?.filter

/** The package drops optional parameters that it does not know, such as those of vendors, unless they are added. */
function keepParameters(pdu: Pdu): void {
  for (const name of Object.keys(pdu).filter(name => /^\d+$/.test(name))) {
    smpp.addTLV(name, { id: Number(name), type: smpp.types.tlv.buffer })
  }
}

interface Message {
  userId: number
  id: string
}
/** The messages that wait for a receipt, by the SMSC's message id, oldest first. */
const awaited = new Map<string, Message>()

/** What joins the parts of a text takes 6 octets of each, or 7 if the SMSC and sms-quota count with 16 bits. */
const WIDE = process.env.SMS_REFERENCE_BITS === '16'
const PART = WIDE ? { septets: 152, octets: 132 } : { septets: 153, octets: 134 }

/**
 * The segments of a message: up to 160 characters of a 7-bit alphabet or 140 octets; if there are several, 153 or 134 in each.
 * A part of a long message, which has its header already, is one.
 */
function unitsOf(pdu: Pdu): number {
  const coding = Number(pdu.data_coding)
  const is7Bit = (coding & 0x0c) === 0 && coding !== 2
  const length = (pdu.message_payload ?? pdu.short_message)?.length ?? 0
  const [single, part] = is7Bit ? [160, PART.septets] : [140, PART.octets]
  return length <= single ? 1 : Math.ceil(length / part)
}

/** The SMSC has refused the message. */
class Refused extends Error {
  readonly response: Pdu

  constructor(response: Pdu) {
    super('the SMSC refused the message')
    this.response = response
  }
}

/**
 * The units are committed before the SMSC gets the message, and refunded if it refuses it. An answer of sms-quota that is lost costs
 * nothing, so an ESME that tries again, as a new message with a new id, pays once.
 */
async function submit(pdu: Pdu, userId: number, esme: Session, smsc: Session): Promise<void> {
  const id = crypto.randomUUID()
  const to = `+${String(pdu.destination_addr).replace(/^(?:\+|00)/, '')}`
  const units = unitsOf(pdu)
  // sms-quota finds the country only of a message. So it gets a text that is as long.
  const text = 'x'.repeat(units === 1 ? 1 : units * PART.septets)
  try {
    const sent = await quota.withReservation({ userId, id, message: { to, text } }, async () => {
      const response = await passOn(pdu, smsc)
      if (response === null) throw new UnknownIfSent('the SMSC did not answer')
      if (response.command_status !== 0) throw new Refused(response)
      // A receipt may come right after the answer.
      if ((Number(pdu.registered_delivery) & 3) !== 0) awaitReceipt(String(response.message_id), { userId, id })
      return response
    })
    if (!sent.granted) esme.send(pdu.response({ command_status: ESME_RSUBMITFAIL }))
    // Without an answer it is not known whether the SMSC has the message. It stays charged.
    else if (sent.sent === true) esme.send(sent.value)
  } catch (error) {
    esme.send(error instanceof Refused ? error.response : pdu.response({ command_status: statusOf(error) }))
  }
}

/** The status for an ESME whose message was not passed on. */
function statusOf(error: unknown): number {
  if (error instanceof QuotaError && error.code === 'invalid_request') return ESME_RINVDSTADR
  if (!(error instanceof UnavailableError)) console.error(error)
  return ESME_RTHROTTLED
}

/** @returns the SMSC's answer; null if it did not answer, and the connections are closed */
function passOn(pdu: Pdu, smsc: Session): Promise<Pdu | null> {
  return new Promise(resolve => {
    const timer = setTimeout(() => smsc.destroy(), SMSC_TIMEOUT_MS)
    const end = (response: Pdu | null) => {
      clearTimeout(timer)
      smsc.off('close', onClose)
      resolve(response)
    }
    const onClose = () => end(null)
    smsc.on('close', onClose)
    if (!smsc.send(pdu, end)) end(pdu.response({ command_status: ESME_RSUBMITFAIL }))
  })
}

function awaitReceipt(smscId: string, message: Message): void {
  awaited.set(smscId, message)
  for (const oldest of awaited.keys()) {
    if (awaited.size <= MAX_AWAITED) break
    awaited.delete(oldest)
  }
}

async function refund(message: Message): Promise<void> {
  try {
    await quota.refund(message)
  } catch (error) {
    // Nothing is left to refund.
    if (!(error instanceof QuotaError && error.code === 'reservation_closed')) throw error
  }
}

/** Passes on what the SMSC delivers. A receipt of a message that failed refunds it first. */
async function deliver(pdu: Pdu, esme: Session, smsc: Session): Promise<void> {
  const isReceipt = (Number(pdu.esm_class) & 0x3c) === 0x04
  const text = isReceipt ? String(pdu.short_message) : ''
  const smscId = String(pdu.receipted_message_id ?? /\bid:(\S+)/.exec(text)?.[1])
  const state = String(/\bstat:(\w+)/.exec(text)?.[1] ?? pdu.message_state)
  const message = isReceipt ? awaited.get(smscId) : undefined
  const isFailed = FAILED.includes(state)
  if (message !== undefined && (isFailed || DELIVERED.includes(state))) {
    try {
      if (isFailed) await refund(message)
      awaited.delete(smscId)
    } catch (error) {
      if (!(error instanceof UnavailableError)) console.error(error)
      // The SMSC repeats the receipt.
      smsc.send(pdu.response({ command_status: smpp.errors.ESME_RX_T_APPN }))
      return
    }
  }
  esme.send(pdu, response => smsc.send(response))
}

/** Connects an ESME that binds with the SMSC. The SMSC checks its password. If one connection ends, so does the other. */
function link(bind: Pdu, esme: Session): void {
  const userId = BINDS.includes(bind.command) ? USERS.get(String(bind.system_id)) : undefined
  if (userId === undefined) {
    esme.send(bind.response({ command_status: ESME_RINVSYSID }))
    esme.close()
    return
  }
  const smsc = smpp.connect({ host: hostname, port: Number(port) })
  let isAnswered = false
  // Each message under way listens for the end of the connection.
  smsc.setMaxListeners(MAX_PENDING + 1)
  smsc.on('error', () => smsc.destroy())
  smsc.on('close', () => {
    if (!isAnswered) esme.send(bind.response({ command_status: ESME_RBINDFAIL }))
    esme.close()
  })
  esme.on('close', () => smsc.destroy())
  smsc.send(bind, response => {
    isAnswered = true
    esme.send(response)
  })

  // Such as a PDU without its last fields, which cannot be passed on.
  const end = (error: unknown) => {
    console.error(error)
    esme.destroy()
  }
  let pending = 0
  esme.on('pdu', async (pdu: Pdu) => {
    if (pdu.isResponse()) return
    if (pdu.command !== 'submit_sm') {
      passOnOther(pdu, esme, smsc)
      return
    }
    keepParameters(pdu)
    if (++pending === MAX_PENDING) esme.pause()
    await submit(pdu, userId, esme, smsc).catch(end)
    if (pending-- === MAX_PENDING) esme.resume()
  })
  smsc.on('pdu', (pdu: Pdu) => {
    if (pdu.isResponse()) return
    if (pdu.command !== 'deliver_sm') {
      passOnOther(pdu, smsc, esme)
      return
    }
    keepParameters(pdu)
    deliver(pdu, esme, smsc).catch(end)
  })
}

/** What sends nothing is passed on with its answer. Other commands, such as submit_multi, would pass by the quotas. */
function passOnOther(pdu: Pdu, from: Session, to: Session): void {
  if (pdu.command === 'enquire_link' || pdu.command === 'unbind') to.send(pdu, response => from.send(response))
  else from.send(pdu.response({ command_status: ESME_RINVCMDID }))
}

const server = smpp.createServer(esme => {
  esme.on('error', () => esme.destroy())
  esme.once('pdu', (pdu: Pdu) => link(pdu, esme))
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`the proxy is at smpp://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
