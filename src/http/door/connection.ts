/**
 * A connection as the door reads it, in one of these modes:
 * - `reading`: requests are taken as they arrive, a few a turn, and answered in their order;
 * - `verifying`: a token is being verified;
 * - `full`: the client must take answers first;
 * - `leaving`: a request is not plain. Once the answers before it are written, the connection goes to Node.js with the bytes that
 *   the door has not used, and stays there: it has `left`;
 * - `ended`: nothing more is taken, what is due is answered, and what the client still sends is dropped.
 *
 * Its socket is read by the door in the first and the last one.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type PlainHead, readPlainHead } from './head.ts'

interface PlainCall {
  readonly head: PlainHead
  /** A view of bytes that hold until this call is taken. */
  readonly body: Buffer
  readonly socket: Socket
}

/** @param headers lines of the response's own, each with its end */
export type Answer = (status: number, headers: string, body: string) => void

/**
 * Takes a call, and later answers it, once. Returns false if Node.js is to take it, or a promise
 * that resolves when its token has been verified: nothing was done then.
 */
export type TakePlainCall = (call: PlainCall, answer: Answer) => boolean | Promise<unknown>

/** A connection that the door reads. */
export interface DoorConnection {
  readonly socket: Socket
  /** Takes the next requests. */
  turn(): void
  /** Writes the answers that are there at once. */
  flush(): void
  /** Ends it if the service is closing and nothing is due. */
  close(): void
  /**
   * Looks at the time. A client that sends a request slowly, or has sent none yet, goes to Node.js, which limits its time. One that is
   * silent between requests, or does not take its answers, is closed.
   */
  check(now: number, limits: Limits): void
}

/** Times in milliseconds. */
interface Limits {
  readonly slowMs: number
  /** Between two requests. */
  readonly idleMs: number
  readonly stallMs: number
}

/** The door, as its connections see it. */
export interface DoorParts {
  readonly take: TakePlainCall
  /** The bytes that all connections hold of requests that have not arrived completely. */
  heldBytes: number
  /** Whether connections end with the answers that are due. */
  readonly isClosing: boolean
  /** The lines of an answer after which its connection stays. */
  readonly keepAlive: string
  /** Gives a connection another turn after those of the others. */
  turnLater(connection: DoorConnection): void
  /** Flushes a connection when all that is ready in this tick is answered. */
  flushLater(connection: DoorConnection): void
  /** Gives a socket to Node.js. */
  adopt(socket: Socket): void
  forget(connection: DoorConnection): void
}

/** Requests of a connection that are taken in a turn: else one that sends many ahead delays the others. */
const CALLS_PER_TURN = 4

/** Requests of a connection without an answer; further ones wait in its socket. Twice what the load generator sends ahead. */
export const MAX_UNANSWERED = 32

/** A longer head is not plain. */
const MAX_HEAD_BYTES = 8 * 1024

/** Those of unfinished requests beyond go to Node.js, where the slowest is cut. */
const MAX_HELD_BYTES = 4 * 1024 * 1024

const CLOSE = 'connection: close\r\n'
const NOTHING = Buffer.alloc(0)
const HEAD_END = Buffer.from('\r\n\r\n')

/** Reads a connection from its first byte on. */
export const readConnection = (socket: Socket, parts: DoorParts): DoorConnection => new Connection(socket, parts)

class Connection implements DoorConnection {
  readonly socket: Socket
  private readonly parts: DoorParts
  private mode: 'reading' | 'verifying' | 'full' | 'leaving' | 'left' | 'ended' = 'reading'
  private unread: Buffer = NOTHING
  private heldBytes = 0
  /** In the order of the requests. */
  private readonly due: { response: string | null }[] = []
  private hasTurn = false
  private isPaused = false
  private hasEnded = false
  private lastHead: { bytes: Buffer; head: PlainHead } | undefined
  /** When bytes came or went last, in milliseconds of a clock that never goes back. */
  private movedAt = performance.now()
  /** When the request that has not arrived completely began, or the connection did. */
  private begunAt = this.movedAt
  private hasAsked = false
  /** Whether the token of the next request has just been verified. */
  private isVerified = false
  private bytesGone = 0

  constructor(socket: Socket, parts: DoorParts) {
    this.socket = socket
    this.parts = parts
    socket.setNoDelay(true)
    for (const [event, listener] of Object.entries(this.listeners)) socket.on(event, listener)
  }

  private readonly listeners = {
    data: (chunk: Buffer) => {
      if (this.mode === 'ended') return
      this.movedAt = performance.now()
      if (this.heldBytes === 0) this.begunAt = this.movedAt
      this.unread = this.unread.length === 0 ? chunk : Buffer.concat([this.unread, chunk])
      if (this.mode !== 'reading') this.pause()
      else if (!this.hasTurn) this.turn()
    },
    end: () => {
      this.hasEnded = true
      this.proceed()
    },
    drain: () => this.proceed(),
    error: () => this.socket.destroy(),
    close: () => this.forget(),
  }

  turn(): void {
    this.hasTurn = false
    if (this.socket.destroyed) return
    for (let taken = 0; this.mode === 'reading' && this.unread.length > 0; taken += 1) {
      // A client that goes on sending ahead would never have a last answer.
      if (this.parts.isClosing && this.due.length > 0) this.pause()
      else if (taken === CALLS_PER_TURN) this.waitForTurn()
      else if (this.isFull()) this.stopReading('full')
      else if (this.takeNext()) continue
      return
    }
    if (this.mode === 'reading') this.read()
  }

  private waitForTurn(): void {
    this.hasTurn = true
    this.pause()
    this.parts.turnLater(this)
  }

  /** Others may pause the socket, too: a refusal that waits does. */
  private pause(): void {
    this.isPaused = true
    this.socket.pause()
  }

  private read(): void {
    if (this.isPaused) this.socket.resume()
    this.isPaused = false
  }

  /** Takes a request. Returns false if it has not arrived completely, is not plain, or has a token that is not known yet. */
  private takeNext(): boolean {
    const { unread, socket } = this
    const headEnd = unread.indexOf(HEAD_END)
    if (headEnd < 0) return this.hold(unread.length <= MAX_HEAD_BYTES)
    const head = this.headOf(unread.subarray(0, headEnd))
    if (head === undefined) return this.leave()
    const bodyStart = headEnd + HEAD_END.length
    const end = bodyStart + head.contentLength
    if (unread.length < end) return this.hold(true)
    const due = { response: null as string | null }
    this.due.push(due)
    const taken = this.parts.take({ head, body: unread.subarray(bodyStart, end), socket }, (status, headers, text) => {
      const isLast = this.parts.isClosing && this.mode !== 'leaving' && this.due.at(-1) === due
      if (isLast) this.end()
      due.response = responseOf(status, headers, text, isLast ? CLOSE : this.parts.keepAlive)
      if (this.due[0] === due) this.parts.flushLater(this)
    })
    if (taken !== true) {
      this.due.pop()
      // A token that was verified and is not remembered would be verified for ever.
      if (taken === false || this.isVerified) return this.leave()
      this.verify(taken)
      return false
    }
    this.hasAsked = true
    this.isVerified = false
    this.count(0)
    this.unread = unread.length === end ? NOTHING : unread.subarray(end)
    return true
  }

  /** Most requests of a connection have the head of the one before. */
  private headOf(bytes: Buffer): PlainHead | undefined {
    if (this.lastHead !== undefined && bytes.equals(this.lastHead.bytes)) return this.lastHead.head
    const head = bytes.length > MAX_HEAD_BYTES ? undefined : readPlainHead(bytes.toString('latin1'))
    // A copy: the bytes are a view of a buffer that holds the bodies, too.
    this.lastHead = head && { bytes: Buffer.from(bytes), head }
    return head
  }

  /** Takes the same request again when its token is known. One that is refused is Node.js's to answer. */
  private verify(verifying: Promise<unknown>): void {
    this.stopReading('verifying')
    verifying.then(
      () => {
        this.isVerified = true
        if (this.mode === 'verifying') this.goOn()
      },
      () => this.mode === 'verifying' && this.leave(),
    )
  }

  /** Keeps what has arrived of a request, if there is room for it. */
  private hold(mayBePlain: boolean): false {
    const bytes = this.unread.length
    if (!mayBePlain || this.parts.heldBytes - this.heldBytes + bytes > MAX_HELD_BYTES) return this.leave()
    this.count(bytes)
    this.read()
    return false
  }

  private count(heldBytes: number): void {
    this.parts.heldBytes += heldBytes - this.heldBytes
    this.heldBytes = heldBytes
  }

  private isFull(): boolean {
    return this.due.length >= MAX_UNANSWERED || this.socket.writableNeedDrain
  }

  private stopReading(mode: 'verifying' | 'full' | 'leaving'): void {
    this.mode = mode
    this.pause()
  }

  private goOn(): void {
    this.mode = 'reading'
    this.turn()
    this.proceed()
  }

  private leave(): false {
    this.stopReading('leaving')
    this.proceed()
    return false
  }

  flush(): void {
    let text = ''
    for (let [first] = this.due; first !== undefined && first.response !== null; [first] = this.due) {
      text += first.response
      this.due.shift()
    }
    if (text !== '' && !this.socket.destroyed) this.socket.write(text)
    this.movedAt = performance.now()
    this.proceed()
  }

  /** Does what waited for an answer. */
  private proceed(): void {
    if (this.socket.destroyed) return
    const { due, mode, socket } = this
    if (mode === 'full' && !this.isFull()) this.goOn()
    else if (due.length > 0) return
    else if (mode === 'leaving') this.handOver()
    else if (mode === 'ended') socket.end()
    else if (mode === 'reading' && (this.hasEnded ? !this.hasTurn : this.parts.isClosing && this.unread.length === 0)) {
      this.end()
      socket.end()
    }
  }

  /** Takes nothing more. What the client sends is read, since to close before would reset the connection, with answers on their way. */
  private end(): void {
    this.mode = 'ended'
    this.unread = NOTHING
    this.count(0)
    this.read()
  }

  private handOver(): void {
    const { socket, unread, hasEnded } = this
    this.mode = 'left'
    this.forget()
    this.parts.adopt(socket)
    if (!hasEnded) {
      if (unread.length > 0) socket.unshift(unread)
      socket.resume()
      return
    }
    // A stream that has ended takes nothing back.
    socket.emit('data', unread)
    setImmediate(() => socket.destroyed || socket.emit('end'))
  }

  private forget(): void {
    for (const [event, listener] of Object.entries(this.listeners)) this.socket.off(event, listener)
    this.count(0)
    this.parts.forget(this)
  }

  close(): void {
    this.proceed()
  }

  check(now: number, { slowMs, idleMs, stallMs }: Limits): void {
    const { socket } = this
    const bytesGone = socket.bytesWritten - socket.writableLength
    if (bytesGone !== this.bytesGone) this.movedAt = now
    this.bytesGone = bytesGone
    const silentMs = now - this.movedAt
    const isReading = this.mode === 'reading' && this.due.length === 0 && !this.hasTurn
    if (this.mode === 'ended' || socket.writableLength > 0) {
      if (silentMs >= stallMs) socket.destroy()
    } else if (isReading && (this.unread.length > 0 || !this.hasAsked)) {
      if (now - this.begunAt >= slowMs) this.leave()
    } else if (isReading && silentMs >= idleMs) socket.destroy()
  }
}

function responseOf(status: number, headers: string, body: string, keepAlive: string): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}date: ${dateNow()}\r\n${keepAlive}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

let dateSecond = 0
let dateText = ''

/** The date of an answer, made once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1_000).toUTCString()
  }
  return dateText
}
