/** An SMTP server on a free port of this machine, which answers as the test sets it. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { whenDone } from './cleanup.ts'

/** A message that the server took. */
interface Mail {
  recipients: string[]
  /** The lines before the empty one. */
  head: string
  body: string
}

export interface MailServer {
  readonly port: number
  readonly mails: Mail[]
  /** Whether it answers each connection with 421. */
  isDown: boolean
  /** The codes of addresses that it refuses, or whole replies, such as `550 5.7.1 Relay access denied`. */
  readonly refused: Map<string, number | string>
  /** The code with which it refuses messages; undefined: it takes them. */
  dataCode: number | undefined
}

function replyOf(reply: number | string) {
  const [code, text] =
    typeof reply === 'number' ? [reply, 'as the test says'] : [Number(reply.slice(0, 3)), reply.slice(4)]
  return Object.assign(new Error(text), { responseCode: code })
}

/** Call this where tests are declared. */
export async function createMailServer(): Promise<MailServer> {
  const state = {
    mails: [] as Mail[],
    isDown: false,
    refused: new Map<string, number | string>(),
    dataCode: undefined as number | undefined,
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onConnect: (_, done) => done(mail.isDown ? replyOf(421) : undefined),
    onRcptTo({ address }, _, done) {
      const code = mail.refused.get(address)
      done(code === undefined ? undefined : replyOf(code))
    },
    onData(stream, { envelope }, done) {
      let text = ''
      stream.setEncoding('utf8').on('data', part => {
        text += part
      })
      stream.on('end', () => {
        if (mail.dataCode !== undefined) return done(replyOf(mail.dataCode))
        const [head = '', ...rest] = text.split('\r\n\r\n')
        mail.mails.push({
          recipients: envelope.rcptTo.map(({ address }) => address),
          head,
          body: rest.join('\r\n\r\n'),
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  const { server: listening } = server
  server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  whenDone(() => new Promise<void>(resolve => server.close(() => resolve())))
  const mail: MailServer = Object.assign(state, { port: (listening.address() as AddressInfo).port })
  return mail
}

/** The body of a message, which is sent as quoted-printable (RFC 2045). */
export function shownTextOf({ body }: Pick<Mail, 'body'>): string {
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll('%', '%25')
    .replaceAll(/=([\dA-F]{2})/g, '%$1')
  return decodeURIComponent(bytes)
}
