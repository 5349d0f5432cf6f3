import { domainToASCII } from 'node:url'
import { isPlainSmtp } from '../config/parse.ts'
import type { Attempt } from '../db/webhooks/deliveries.ts'
import type { EmailContent } from '../messages/formats.ts'
import { answerText, secretsOf } from './answer.ts'

export interface MailOptions {
  /** `smtp://user:password@host:587`, `smtps://…` for TLS from the beginning, or `smtp://host?tls=off` for none. */
  url: string
  /** The sender: an address, or `Name <address>`. */
  from: string
}

interface Email extends EmailContent {
  /** Names the message: who gets it twice can recognize that. */
  id: string
  /** The addresses that it shows. */
  to: readonly string[]
  /** The addresses that it goes to. */
  recipients: readonly string[]
  /** Further lines of its head. */
  headers?: Readonly<Record<string, string>>
}

/** Sends e-mail through the operator's SMTP server, which takes it for all addresses or refuses some. */
export interface Mailer {
  /** It never rejects. */
  send(email: Email): Promise<Attempt>
  /** Connects, with TLS and a password as for a message. Resolves to why that failed; null: it did not. */
  check(): Promise<string | null>
  /** Closes all connections; a message that is on its way fails. */
  close(): void
}

/** Until the server has answered for the whole message: some check its content first, and one that is cut off may have taken it. */
export const MAIL_TIMEOUT_MS = 60_000

/** Connections of a process. A webhook sends 11 messages a minute at most; those of the kind `users` wait for one of these. */
const MAX_CONNECTIONS = 4
const CONNECT_TIMEOUT_MS = 10_000
/** Servers end connections that are not used. Then a message on one would have to be repeated. */
const IDLE_MS = 5_000

export function createMailer({ url, from }: MailOptions): Mailer {
  const domain = domainOf(from)
  const secrets = secretsOf(new URL(url))
  const closing = new AbortController()
  let transport: ReturnType<typeof openTransport> | undefined
  const withAnswer = (attempt: Attempt, responses: readonly string[]): Attempt => {
    const answer = answerText([...new Set(responses)].join(' '), secrets)
    return answer === null ? attempt : { ...attempt, answer }
  }
  return {
    async send({ id, to, recipients, headers, ...content }) {
      transport ??= openTransport(url)
      try {
        const { response, rejectedErrors } = await (await transport).sendMail({
          ...content,
          from,
          to: [...to],
          envelope: { from: addressOf(from), to: [...recipients] },
          messageId: `<${id}@${domain}>`,
          // RFC 3834: no absence notes, please.
          headers: { ...headers, 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(MAIL_TIMEOUT_MS)]),
        })
        const refusals = refusalsIn(rejectedErrors, recipients)
        return withAnswer(taken(codeIn(response), refusals), [...refusals.map(one => one.response), response])
      } catch (error) {
        return withAnswer(refused(error, recipients), responsesIn(error, recipients))
      }
    },
    async check() {
      transport ??= openTransport(url)
      try {
        await (await transport).verify()
        return null
      } catch (error) {
        return refused(error, []).error
      }
    },
    close() {
      closing.abort()
      transport?.then(pool => pool.close()).catch(() => {})
    },
  }
}

/** Loads the library with the first message: most services send none. */
async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username, password } = new URL(url)
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : domainToASCII(decodeURIComponent(hostname))
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    // What became of a message is unknown if its connection closes. It is repeated by the schedule of deliveries.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    host,
    ...(port === '' ? {} : { port: Number(port) }),
    secure: protocol === 'smtps:',
    // Beyond this machine and a private network that the operator trusts, STARTTLS with a verified certificate, or nothing is sent.
    ...(isPlainSmtp(url) ? { ignoreTLS: true } : { requireTLS: true }),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: MAIL_TIMEOUT_MS,
    socketTimeout: MAIL_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** An address that the server did not take. */
interface Refusal {
  address: string
  code: number
  /** What the server said, with the code. */
  response: string
  /** RFC 3463: what it concerns, such as `1.1`, a mailbox that does not exist. Null: the server does not say. */
  concerns: string | null
}

/** RFC 5321: the mailbox is not there, or its name is not allowed. */
const OF_MAILBOX = new Set([550, 551, 553])

/**
 * Whether the mailbox is the reason, which does not pass. Servers answer their own troubles, or those of the sender, with 5yz as well: a relay
 * that is denied, a quota that is used up, a sender on a list. After those, and after 4yz, the same may succeed later.
 */
const isForGood = ({ code, concerns }: Refusal) =>
  code >= 500 && (concerns === null ? OF_MAILBOX.has(code) : /^(?:1\.\d+|2\.1)$/.test(concerns))

function taken(code: number, refusals: readonly Refusal[]): Attempt {
  const outcome = { response_code: code, error: textOf(refusals) }
  const left = refusals.filter(refusal => !isForGood(refusal)).map(({ address }) => address)
  return left.length === 0
    ? { delivered: true, ...outcome }
    : { delivered: false, ...outcome, left, isTakenForSome: true }
}

function refused(error: unknown, recipients: readonly string[]): Attempt {
  const fields = typeof error === 'object' && error !== null ? error : {}
  const refusals = 'rejectedErrors' in fields ? refusalsIn(fields.rejectedErrors, recipients) : []
  const [first] = refusals
  if (first !== undefined) {
    const left = refusals.filter(refusal => !isForGood(refusal)).map(({ address }) => address)
    const outcome = { delivered: false, response_code: first.code, error: textOf(refusals) }
    return left.length === 0 ? { ...outcome, isRefused: true } : { ...outcome, left }
  }
  const code = 'responseCode' in fields && typeof fields.responseCode === 'number' ? fields.responseCode : null
  // A code of the library or of Node.js, and nothing that the server sent.
  const reason = 'code' in fields && typeof fields.code === 'string' ? fields.code : 'unknown'
  const what = code === null ? 'the message could not be sent' : 'the server did not take the message'
  const isContentRefused = code !== null && code >= 500 && 'command' in fields && fields.command === 'DATA'
  const advice = reason === 'ETLS' ? ' (a server of a private network without TLS: SMTP_URL=smtp://…?tls=off)' : ''
  return { delivered: false, response_code: code, error: `${what}: ${reason}${advice}`, isContentRefused }
}

/** @param recipients as the message names them: the library writes some in another way */
function refusalsIn(errors: unknown, recipients: readonly string[]): Refusal[] {
  if (!Array.isArray(errors)) return []
  return errors.flatMap((error: unknown) => {
    if (typeof error !== 'object' || error === null) return []
    const address = 'recipient' in error && typeof error.recipient === 'string' ? error.recipient : undefined
    // A server that closes the connection instead of an answer has decided nothing.
    const code = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : 421
    const response = 'response' in error && typeof error.response === 'string' ? error.response : ''
    const concerns = /^5\d\d[ -]5\.(\d{1,3}\.\d{1,3})(?!\d)/.exec(response)?.[1] ?? null
    if (address === undefined) return []
    return [
      { address: recipients.find(one => spellingOf(one) === spellingOf(address)) ?? address, code, response, concerns },
    ]
  })
}

/** What the server said when it took a message for no address. */
function responsesIn(error: unknown, recipients: readonly string[]): string[] {
  const fields = typeof error === 'object' && error !== null ? error : {}
  const refusals = 'rejectedErrors' in fields ? refusalsIn(fields.rejectedErrors, recipients) : []
  const own = 'response' in fields && typeof fields.response === 'string' ? [fields.response] : []
  return refusals.length > 0 ? refusals.map(({ response }) => response) : own
}

/** One spelling of an address: the library quotes local parts, and writes domains as URLs have them. */
function spellingOf(address: string): string {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at).replaceAll(/["\\]/g, ''), address.slice(at + 1)]
  return `${local}@${domainToASCII(domain) || domain.toLowerCase()}`
}

function textOf(refusals: readonly Refusal[]): string | null {
  if (refusals.length === 0) return null
  return `not taken for ${refusals.map(({ address, code }) => `${address} (${code})`).join(', ')}`
}

const codeIn = (response: string) => Number(/^\d{3}/.exec(response)?.[0] ?? 250)

const addressOf = (from: string) => /<(.*)>$/.exec(from)?.[1] ?? from
/** In ASCII, as the library writes the domains of addresses. */
const domainOf = (from: string) => domainToASCII(addressOf(from).split('@').at(-1) ?? '') || 'localhost'
