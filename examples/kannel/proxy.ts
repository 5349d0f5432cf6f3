/**
 * A proxy before Kannel's `sendsms`: it reserves the units of a message, passes the message on to smsbox, and settles by the
 * delivery report. README.md says how to run it.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, QuotaError, UnavailableError } from 'sms-quota-client'

const { PORT = '13014', SMSBOX_URL = 'http://127.0.0.1:13013', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Whose quotas pay: the sms-quota user id of each `sendsms-user`. */
const USERS: Record<string, number> = JSON.parse(process.env.USERS ?? '{}')
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

async function sendSms(parameters: URLSearchParams): Promise<Answer> {
  const userId = USERS[parameters.get('username') ?? '']
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
  const url = `${ownUrl()}/dlr?user=${userId}&id=${id}&mask=${mask}&next=${next}&${reported}`
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
  const type = Number(report.get('d'))
  const message = { userId: Number(report.get('user')), id: report.get('id') ?? '' }
  try {
    if (type === 1) await quota.commit(message)
    if (type === 2 || type === 16) await quota.release(message)
  } catch (error) {
    // A second report of another kind changes nothing. Kannel repeats the report after any other error.
    if (!(error instanceof QuotaError && error.code === 'reservation_closed')) throw error
  }
  const next = Buffer.from(report.get('next') ?? '', 'base64url').toString()
  if (next !== '' && (Number(report.get('mask')) & type) !== 0) {
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
