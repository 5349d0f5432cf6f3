/**
 * A keep-alive HTTP/1.1 connection with pipelining. It parses only the status and the content length, because the load
 * generator shares the machine's cores with the service. Responses come in the order of the requests.
 */
import { connect } from 'node:net'

export interface Connection {
  /** Sends one or more serialized requests. */
  send(requests: string): void
  close(): void
}

export interface ConnectionOptions {
  host: string
  port: number
  /** Called for each response, in order. The bytes are valid only during the call. */
  onResponse(status: number, bytes: Buffer, from: number, to: number): void
  /** Called after the last complete response of each chunk from the network. */
  onChunkEnd(): void
  onLost(error: Error): void
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** Without the first letter, whose case varies. */
const LENGTH = Buffer.from('ontent-length: ')

export function openConnection({ host, port, onResponse, onChunkEnd, onLost }: ConnectionOptions): Promise<Connection> {
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
      // The status follows `HTTP/1.1 `.
      onResponse(numberAt(bytes, at + 9), bytes, body, end)
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : null
    onChunkEnd()
  })
  return new Promise((resolve, reject) => {
    const lose = (error: Error) => {
      reject(error)
      if (!closed) onLost(error)
      closed = true
    }
    socket.on('error', lose)
    socket.on('close', () => lose(new Error('the server closed a connection')))
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
  if (at < 0 || at > headEnd) throw new Error('a response has no content-length')
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
