/**
 * A proxy before Kannel's `sendsms`: it takes the units of a message, passes the message on to smsbox, and refunds them by the
 * delivery report. README.md says how to run it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, QuotaError, UnavailableError, UnknownIfSent } from 'sms-quota-client'

const { PORT = '13014', SMSBOX_URL = 'http://127.0.0.1:13013', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Signs the addresses for delivery reports. After a change, reports of earlier messages are refused. */
const { DLR_SECRET = '' } = process.env
if (DLR_SECRET.length < 32) throw new Error('set DLR_SECRET to 32 characters or more, such as: openssl rand -hex 32')
/** Whose quotas pay: the sms-quota user id of each `sendsms-user`. */
const USERS = new Map<string, number>(Object.entries(JSON.parse(process.env.USERS ?? '{}')))
const quota = createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '' })

/** Messages that were reported as delivered: a later report of another kind changes nothing. The oldest are forgotten. */
const delivered = new Set<string>()
const MAX_DELIVERED = 100_000
/** Kannel cuts a text after this many parts: `max-messages` of the `sendsms-user`, which is 1 unless it is set. */
const MAX_PARTS = 10
const SMSBOX_TIMEOUT_MS = 10_000
/** What Kannel fills into a `dlr-url`, as `%d`: type, numbers, times, answer of the SMSC, ids. */
const ESCAPES = ['d', 'p', 'P', 'T', 't', 'A', 'F', 'i']

interface Answer {
  status: number
  text: string
}
const NO_ANSWER: Answer = { status: 504, text: 'smsbox did not answer: the message may have been sent' }

/** Signs what a report of this proxy's holds. Others who reach `/dlr` cannot settle messages or have addresses called. */
const signatureOf = (...parts: string[]) =>
  createHmac('sha256', DLR_SECRET).update(JSON.stringify(parts)).digest('base64url')

function isSigned(signature: string, ...parts: string[]): boolean {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(...parts))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Kannel has not taken the message. */
class Refused extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.text)
    this.answer = answer
  }
}

async function sendSms(parameters: URLSearchParams): Promise<Answer> {
  const userId = USERS.get(parameters.get('username') ?? '')
  if (userId === undefined) return { status: 403, text: 'Authorization failed for sendsms' }
  const text = parameters.get('text')
  if (text === null) return { status: 400, text: 'text is missing: this proxy takes text messages only' }
  const id = crypto.randomUUID()
  const to = `+${(parameters.get('to') ?? '').trim().replace(/^(?:\+|00)/, '')}`
  try {
    // The units are committed before Kannel gets the message. An answer of sms-quota that is lost costs nothing.
    const sent = await quota.withReservation({ userId, id, message: { to, text } }, async reservation => {
      const { units = 0 } = reservation ?? {}
      if (units > MAX_PARTS) {
        const cut = `Not sent: Kannel cuts the text, which takes ${units} parts, after ${MAX_PARTS}`
        throw new Refused({ status: 400, text: cut })
      }
      // Otherwise Kannel replaces what GSM-7 does not have.
      if (reservation?.encoding === 'UCS-2' && !parameters.has('coding')) parameters.set('coding', '2')
      const answer = await passOn(withReports(parameters, userId, id))
      // Without an answer the message stays charged, unless a report says that it failed.
      if (answer.status === 504) throw new UnknownIfSent(answer.text)
      if (answer.status !== 202) throw new Refused(answer)
      return answer
    })
    if (sent.granted) return sent.sent === true ? sent.value : NO_ANSWER
    const { reason, retryAt } = sent
    return { status: 402, text: `Not sent: ${reason}${retryAt === null ? '' : `, try again at ${retryAt}`}` }
  } catch (error) {
    if (error instanceof Refused) return error.answer
    throw error
  }
}

/** The parameters with a `dlr-url` of this proxy, which holds the caller's own. */
function withReports(parameters: URLSearchParams, userId: number, id: string): URLSearchParams {
  const next = Buffer.from(parameters.get('dlr-url') ?? '').toString('base64url')
  const reported = ESCAPES.map(name => `${name}=%${name}`).join('&')
  const mask = parameters.get('dlr-mask') ?? '0'
  const sig = signatureOf(String(userId), id, mask, next)
  const own = new URLSearchParams({ user: String(userId), id, mask, next, sig })
  const url = `${ownUrl()}/dlr?${own}&${reported}`
  const result = new URLSearchParams(parameters)
  result.set('dlr-url', url)
  result.set('dlr-mask', '31')
  return result
}

async function passOn(parameters: URLSearchParams): Promise<Answer> {
  try {
    const answer = await fetch(`${SMSBOX_URL}/cgi-bin/sendsms?${parameters}`, {
      signal: AbortSignal.timeout(SMSBOX_TIMEOUT_MS),
    })
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    if (code === 'ECONNREFUSED') return { status: 502, text: 'Not sent: smsbox does not run' }
    return NO_ANSWER
  }
}

/** Refunds a message that failed, unless it was reported as delivered before. */
async function refund(message: { userId: number; id: string }): Promise<void> {
  if (delivered.has(message.id)) return
  try {
    await quota.refund(message)
  } catch (error) {
    // Nothing is left to refund. Kannel repeats the report after any other error.
    if (!(error instanceof QuotaError && error.code === 'reservation_closed')) throw error
  }
}

function noteDelivered(id: string): void {
  delivered.add(id)
  const [oldest] = delivered
  if (delivered.size > MAX_DELIVERED && oldest !== undefined) delivered.delete(oldest)
}

/** A delivery report: 1 delivered, 2 failed, 4 buffered, 8 accepted by the SMSC, 16 rejected by it. */
async function settle(report: URLSearchParams): Promise<Answer> {
  const [user = '', id = '', mask = '', address = '', sig = ''] = ['user', 'id', 'mask', 'next', 'sig'].map(
    name => report.get(name) ?? '',
  )
  if (!isSigned(sig, user, id, mask, address)) return { status: 403, text: 'This proxy did not ask for this report.' }
  const type = Number(report.get('d'))
  const message = { userId: Number(user), id }
  if (type === 1) noteDelivered(id)
  if (type === 2 || type === 16) await refund(message)
  const next = Buffer.from(address, 'base64url').toString()
  if (next !== '' && (Number(mask) & type) !== 0) {
    const url = next.replace(/%([A-Za-z])/g, (whole, name) => encodeURIComponent(report.get(name) ?? whole))
    await fetch(url, { signal: AbortSignal.timeout(SMSBOX_TIMEOUT_MS) })
  }
  return { status: 200, text: 'settled' }
}

async function answerOf(request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://proxy')
  try {
    if (pathname === '/cgi-bin/sendsms') return await sendSms(searchParams)
    if (pathname === '/dlr') return await settle(searchParams)
    return { status: 404, text: 'There is /cgi-bin/sendsms here, and /dlr for Kannel.' }
  } catch (error) {
    if (error instanceof QuotaError && error.status < 500) return { status: 400, text: `Not sent: ${error.message}` }
    if (!(error instanceof UnavailableError)) console.error(error)
    return { status: 503, text: 'Temporal failure, try again later.' }
  }
}

const server = createServer(async (request, response) => {
  const { status, text } = await answerOf(request)
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
})
const ownUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
server.listen(Number(PORT), '127.0.0.1', () => console.log(`the proxy is at ${ownUrl()}`))
