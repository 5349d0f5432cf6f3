/**
 * A proxy before Jasmin's HTTP API: it takes the units of a message, passes the message on to Jasmin, and refunds them by the
 * delivery reports. README.md says how to run it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type Granted, QuotaError, UnavailableError, UnknownIfSent } from 'sms-quota-client'

const { PORT = '1402', JASMIN_URL = 'http://127.0.0.1:1401', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Signs the addresses for delivery reports. After a change, reports of earlier messages are refused. */
const { DLR_SECRET = '' } = process.env
if (DLR_SECRET.length < 32) throw new Error('set DLR_SECRET to 32 characters or more, such as: openssl rand -hex 32')
/** Whose quotas pay: the sms-quota user id of each user of Jasmin. */
const USERS = new Map<string, number>(Object.entries(JSON.parse(process.env.USERS ?? '{}')))
const quota = createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '' })

/** Messages that were reported as delivered: a later report of another kind changes nothing. The oldest are forgotten. */
const delivered = new Set<string>()
const MAX_DELIVERED = 100_000
const JASMIN_TIMEOUT_MS = 10_000
const MAX_FORM_BYTES = 100_000
/** Jasmin cuts a text after this many parts: `long_content_max_parts`. */
const MAX_PARTS = 5
/** Final reports about the delivery. After the others, such as ENROUTE and UNKNOWN, one may follow. */
const DELIVERED = ['DELIVRD', 'ACCEPTD']
const FAILED = ['EXPIRED', 'DELETED', 'UNDELIV', 'REJECTD']
/** After these answers of the SMSC, Jasmin sends the message again: `submit_error_retrial`. */
const REPEATED = ['ESME_RSYSERR', 'ESME_RTHROTTLED', 'ESME_RMSGQFUL', 'ESME_RINVSCHED']

const NO_ANSWER = 'Jasmin did not answer: the message may have been sent'

interface Answer {
  status: number
  text: string
}
const error = (status: number, text: string): Answer => ({ status, text: `Error "${text}"` })

/** Signs what a report of this proxy's holds. Others who reach `/dlr` cannot settle messages or have addresses called. */
const signatureOf = (...parts: string[]) =>
  createHmac('sha256', DLR_SECRET).update(JSON.stringify(parts)).digest('base64url')

function isSigned(signature: string, ...parts: string[]): boolean {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(...parts))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Jasmin has not taken the message. */
class Refused extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.text)
    this.answer = answer
  }
}

async function sendSms(parameters: URLSearchParams): Promise<Answer> {
  const username = parameters.get('username') ?? ''
  const userId = USERS.get(username)
  if (userId === undefined) return error(403, `Authentication failure for username:${username}`)
  const text = textOf(parameters)
  if (text === null) return error(400, 'This proxy takes content without coding, or hex-content with coding=8.')
  const id = crypto.randomUUID()
  const to = `+${(parameters.get('to') ?? '').replace(/^(?:\+|00)/, '')}`
  const pass = async (reservation: Granted | null): Promise<Answer> => {
    const { units = 0, encoding } = reservation ?? {}
    if (units > MAX_PARTS)
      throw new Refused(error(400, `Not sent: Jasmin cuts the text, which takes ${units} parts, after ${MAX_PARTS}`))
    const answer = await passOn(withText(withReports(parameters, userId, id), text, encoding === 'UCS-2'))
    // Without an answer the message stays charged, unless a report says that it failed.
    if (answer.status === 504) throw new UnknownIfSent(answer.text)
    if (answer.status !== 200) throw new Refused(answer)
    return answer
  }
  try {
    // The units are committed before Jasmin gets the message. An answer of sms-quota that is lost costs nothing.
    const sent = await quota.withReservation({ userId, id, message: { to, text } }, pass)
    if (!sent.granted) {
      const { reason, retryAt } = sent
      return error(402, `Not sent: ${reason}${retryAt === null ? '' : `, try again at ${retryAt}`}`)
    }
    return sent.sent === true ? sent.value : error(504, NO_ANSWER)
  } catch (failure) {
    if (failure instanceof Refused) return failure.answer
    throw failure
  }
}

/** The text of a message; null if it is binary or in an encoding that Jasmin would pass on without a look. */
function textOf(parameters: URLSearchParams): string | null {
  const coding = parameters.get('coding') ?? '0'
  const hex = parameters.get('hex-content')
  if (hex === null) return coding === '0' ? parameters.get('content') : null
  if (coding !== '8' || !/^(?:[0-9a-f]{4})*$/i.test(hex)) return null
  return new TextDecoder('utf-16be').decode(Buffer.from(hex, 'hex'))
}

/** The parameters with the text as Jasmin takes it. From `content` it replaces what GSM-7 does not have. */
function withText(parameters: URLSearchParams, text: string, isUcs2: boolean): URLSearchParams {
  const result = new URLSearchParams(parameters)
  for (const name of ['content', 'hex-content', 'coding']) result.delete(name)
  if (isUcs2) {
    result.set('coding', '8')
    result.set('hex-content', Buffer.from(text, 'utf16le').swap16().toString('hex'))
  } else result.set('content', text)
  return result
}

/** The parameters with a `dlr-url` of this proxy, which holds the caller's own. */
function withReports(parameters: URLSearchParams, userId: number, id: string): URLSearchParams {
  const user = String(userId)
  const next = parameters.get('dlr-url') ?? ''
  const levels = parameters.get('dlr-level') ?? '1'
  const method = (parameters.get('dlr-method') ?? 'POST').toUpperCase()
  const sig = signatureOf(user, id, next, levels, method)
  const own = new URLSearchParams({ user, reservation: id, next, levels, method, sig })
  const result = new URLSearchParams(parameters)
  result.set('dlr', 'yes')
  result.set('dlr-url', `${ownUrl()}/dlr?${own}`)
  result.set('dlr-level', '3')
  result.set('dlr-method', 'GET')
  return result
}

async function passOn(parameters: URLSearchParams): Promise<Answer> {
  try {
    const answer = await fetch(`${JASMIN_URL}/send`, {
      method: 'POST',
      body: parameters,
      signal: AbortSignal.timeout(JASMIN_TIMEOUT_MS),
    })
    return { status: answer.status, text: await answer.text() }
  } catch (failure) {
    const { code } = ((failure as Error).cause ?? {}) as { code?: string }
    if (code === 'ECONNREFUSED') return error(502, 'Not sent: Jasmin does not run')
    return error(504, NO_ANSWER)
  }
}

/** Refunds a message that failed, unless it was reported as delivered before. */
async function refund(message: { userId: number; id: string }): Promise<void> {
  if (delivered.has(message.id)) return
  try {
    await quota.refund(message)
  } catch (failure) {
    // Nothing is left to refund. Jasmin repeats the report after any other error.
    if (!(failure instanceof QuotaError && failure.code === 'reservation_closed')) throw failure
  }
}

function noteDelivered(id: string): void {
  delivered.add(id)
  const [oldest] = delivered
  if (delivered.size > MAX_DELIVERED && oldest !== undefined) delivered.delete(oldest)
}

/** A delivery report: of level 1 when the SMSC has answered, of level 2 about the delivery. */
async function settle(report: URLSearchParams): Promise<Answer> {
  const {
    user = '',
    reservation = '',
    next = '',
    levels = '',
    method = '',
    sig = '',
    ...reported
  } = Object.fromEntries(report)
  if (!isSigned(sig, user, reservation, next, levels, method)) {
    return error(403, 'This proxy did not ask for this report.')
  }
  const message = { userId: Number(user), id: reservation }
  const { level, message_status: status = '' } = reported
  const isRefused = level === '1' && status !== 'ESME_ROK' && !REPEATED.includes(status)
  if (DELIVERED.includes(status)) noteDelivered(reservation)
  else if (FAILED.includes(status) || isRefused) await refund(message)
  const isWanted = next !== '' && (levels === '3' || levels === level)
  return isWanted ? reportTo(next, method === 'GET', new URLSearchParams(reported)) : ACKNOWLEDGED
}

/** What Jasmin waits for. After any other answer it repeats the report. */
const ACKNOWLEDGED: Answer = { status: 200, text: 'ACK/Jasmin' }

async function reportTo(url: string, isGet: boolean, report: URLSearchParams): Promise<Answer> {
  const signal = AbortSignal.timeout(JASMIN_TIMEOUT_MS)
  const answer = isGet
    ? await fetch(`${url}${url.includes('?') ? '&' : '?'}${report}`, { signal })
    : await fetch(url, { method: 'POST', body: report, signal })
  return { status: answer.status, text: await answer.text() }
}

async function answerOf(request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://proxy')
  try {
    if (pathname === '/dlr') return await settle(searchParams)
    if (pathname === '/send') {
      const parameters = await withForm(request, searchParams)
      if (parameters === null) return error(400, 'This proxy takes a query or a form, not JSON, of up to 100 kB.')
      return await sendSms(parameters)
    }
    return error(404, 'There is /send here, and /dlr for Jasmin.')
  } catch (failure) {
    if (failure instanceof QuotaError && failure.status < 500) return error(400, `Not sent: ${failure.message}`)
    if (!(failure instanceof UnavailableError)) console.error(failure)
    return error(503, 'Temporary failure, try again later.')
  }
}

/** The parameters of the address and of a form in the body; null if the body is no form, or too long. */
async function withForm(request: IncomingMessage, parameters: URLSearchParams): Promise<URLSearchParams | null> {
  if (request.headers['content-type']?.startsWith('application/json')) return null
  let form = ''
  for await (const chunk of request.setEncoding('latin1')) {
    form += chunk
    if (form.length > MAX_FORM_BYTES) return null
  }
  return new URLSearchParams([...parameters, ...new URLSearchParams(form)])
}

const server = createServer(async (request, response) => {
  const { status, text } = await answerOf(request)
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
})
const ownUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
server.listen(Number(PORT), '127.0.0.1', () => console.log(`the proxy is at ${ownUrl()}`))
