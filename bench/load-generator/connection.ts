/**
 * A keep-alive HTTP/1.1 connection that knows just enough of HTTP to be cheap: on two cores, whatever the callers cost
 * is missing to the service. Requests are sent as they are given; answers come in the same order.
 */
import { connect } from 'node:net'

export interface Connection {
  /** Sends what may be several requests. */
  send(requests: string): void
  close(): void
}

export interface ConnectionOptions {
  host: string
  port: number
  /** Is told of each answer, in order. Its bytes are valid only for the time of the call. */
  onAnswer(status: number, bytes: Buffer, from: number, to: number): void
  /** Called when all answers of one piece from the network have been told. */
  onPause(): void
  onLost(error: Error): void
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** The first letter may be large or small. */
const LENGTH = Buffer.from('ontent-length: ')

export function openConnection({ host, port, onAnswer, onPause, onLost }: ConnectionOptions): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true })
  let rest: Buffer | null = null
  let closed = false

  socket.on('data', chunk => {
    const bytes = rest === null ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (at < bytes.length) {
      const headEnd = bytes.indexOf(HEAD_END, at)
      if (headEnd < 0) break
      const body = headEnd + HEAD_END.length
      const end = body + lengthOf(bytes, at, headEnd)
      if (end > bytes.length) break
      // HTTP/1.1 200
      onAnswer(numberAt(bytes, at + 9), bytes, body, end)
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : null
    onPause()
  })
  return new Promise((resolve, reject) => {
    const lose = (error: Error) => {
      reject(error)
      if (!closed) onLost(error)
      closed = true
    }
    socket.on('error', lose)
    socket.on('close', () => lose(new Error('the server has closed a connection')))
    socket.on('connect', () =>
      resolve({
        send: requests => socket.write(requests, 'latin1'),
        close() {
          closed = true
          socket.destroy()
        },
      }),
    )
  })
}

function lengthOf(bytes: Buffer, from: number, headEnd: number): number {
  const at = bytes.indexOf(LENGTH, from)
  if (at < 0 || at > headEnd) throw new Error('an answer without a length')
  return numberAt(bytes, at + LENGTH.length)
}

function numberAt(bytes: Buffer, from: number): number {
  let number = 0
  for (let at = from; ; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9) return number
    number = number * 10 + digit
  }
}
