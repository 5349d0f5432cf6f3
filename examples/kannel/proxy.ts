/**
 * A proxy before Kannel's `sendsms`: it reserves the units of a message, passes the message on to smsbox, and settles by the
 * delivery report. README.md says how to run it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, QuotaError, UnavailableError } from 'sms-quota-client'

const { PORT = '13014', SMSBOX_URL = 'http://127.0.0.1:13013', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Signs the addresses for delivery reports. After a change, reports of earlier messages are refused. */
const { DLR_SECRET = '' } = process.env
if (DLR_SECRET.length < 32) throw new Error('set DLR_SECRET to 32 characters or more, such as: openssl rand -hex 32')
/** Whose quotas pay: the sms-quota user id of each `sendsms-user`. */
const USERS = new Map<string, number>(Object.entries(JSON.parse(process.env.USERS ?? '{}')))
const quota = createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '' })

/** How long a delivery report may take. A message without a report is then charged, because it may have arrived. */
const TTL_SECONDS = 3 * 86_400
const SMSBOX_TIMEOUT_MS = 10_000
/** What Kannel fills into a `dlr-url`, as `%d`: type, numbers, times, answer of the SMSC, ids. */
const ESCAPES = ['d', 'p', 'P', 'T', 't', 'A', 'F', 'i']

interface Answer {
  status: number
  text: string
}

/** Signs what a report of this proxy's holds. Whoever else reaches `/dlr` cannot settle messages or have addresses called. */
const signatureOf = (...parts: string[]) =>
  createHmac('sha256', DLR_SECRET).update(JSON.stringify(parts)).digest('base64url')

function isSigned(signature: string, ...parts: string[]): boolean {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(...parts))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function sendSms(parameters: URLSearchParams): Promise<Answer> {
  const userId = USERS.get(parameters.get('username') ?? '')
  if (userId === undefined) return { status: 403, text: 'Authorization failed for sendsms' }
  const text = parameters.get('text')
  if (text === null) return { status: 400, text: 'text is missing: this proxy takes text messages only' }
  const id = crypto.randomUUID()
  const to = `+${(parameters.get('to') ?? '').trim().replace(/^(?:\+|00)/, '')}`
  const reservation = await quota.reserve({
    userId,
    id,
    message: { to, text },
    ttlSeconds: TTL_SECONDS,
    onExpiry: 'commit',
  })
  if (!reservation.granted) {
    const { reason, retryAt } = reservation
    return { status: 402, text: `Not sent: ${reason}${retryAt === null ? '' : `, try again at ${retryAt}`}` }
  }
  // Otherwise Kannel replaces what GSM-7 does not have.
  if (reservation.encoding === 'UCS-2' && !parameters.has('coding')) parameters.set('coding', '2')
  const answer = await passOn(withReports(parameters, userId, id))
  // Only a message that Kannel did not take is free. Without an answer, the report settles it, or the expiry.
  if (answer.status !== 202 && answer.status !== 504) await quota.release({ userId, id })
  return answer
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
    return { status: 504, text: 'smsbox did not answer: the message may have been sent' }
  }
}

/** A delivery report: 1 delivered, 2 failed, 4 buffered, 8 accepted by the SMSC, 16 rejected by it. */
async function settle(report: URLSearchParams): Promise<Answer> {
  const [user = '', id = '', mask = '', address = '', sig = ''] = ['user', 'id', 'mask', 'next', 'sig'].map(
    name => report.get(name) ?? '',
  )
  if (!isSigned(sig, user, id, mask, address)) return { status: 403, text: 'This proxy did not ask for this report.' }
  const type = Number(report.get('d'))
  const message = { userId: Number(user), id }
  try {
    if (type === 1) await quota.commit(message)
    if (type === 2 || type === 16) await quota.release(message)
  } catch (error) {
    // A second report of another kind changes nothing. Kannel repeats the report after any other error.
    if (!(error instanceof QuotaError && error.code === 'reservation_closed')) throw error
  }
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
