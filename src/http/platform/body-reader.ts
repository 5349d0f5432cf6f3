/** Reads bodies, and bounds the memory of those that have not arrived completely. */
import type { FastifyRequest } from 'fastify'
import { Problem } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the bodies of all routes of this server. */
    bodyReader: BodyReader
  }
}

type Done = (error: Error | null, body?: Buffer) => void

/** The body of a request, as Fastify passes it to a parser. */
type BodyStream = FastifyRequest['raw']

export interface BodyReader {
  /**
   * Reads a whole body of at most `limit` bytes. Fails with `payload_too_large`, with `invalid_request` if the length is
   * not that of Content-Length, and with `overloaded` if the body is cut to make room.
   */
  read(stream: BodyStream, limit: number, done: Done): void
}

/**
 * The maximum size of all bodies that have begun to arrive and are not complete, in bytes. It is reached only if many
 * clients send slowly: at a gigabit per second, 32 MiB arrive in 270 ms.
 */
export const MAX_UNFINISHED_BYTES = 32 * 1024 * 1024

/** What an unfinished body counts beside its bytes, for its objects. So it bounds their number, too: 4,096. */
const BYTES_PER_BODY = 8 * 1024

/**
 * A slow client must not keep others from being served, so a body takes none of their room while it arrives. If unfinished
 * bodies count more than `maxBytes`, the one that began first is cut: it is the slowest.
 */
export function createBodyReader(maxBytes: number): BodyReader {
  /** In the order in which they began. */
  const unfinished = new Set<Body>()
  let bytesHeld = 0

  function hold(body: Body, bytes: number): void {
    const counted = unfinished.has(body) ? bytes : bytes + BYTES_PER_BODY
    unfinished.add(body)
    body.bytesHeld += counted
    bytesHeld += counted
    for (const oldest of unfinished) {
      if (bytesHeld <= maxBytes) break
      oldest.end(tooSlow())
    }
  }

  function release(body: Body): void {
    if (unfinished.delete(body)) bytesHeld -= body.bytesHeld
  }

  return {
    read(stream, limit, done) {
      const expected = Number(stream.headers['content-length'])
      if (expected > limit) return done(tooLarge(limit))
      new Body(stream, { expected, limit, hold, release, done })
    },
  }
}

interface BodyOptions {
  /** The Content-Length; NaN if there is none. */
  readonly expected: number
  readonly limit: number
  /** Counts bytes that have arrived while more are to come. */
  hold(body: Body, bytes: number): void
  release(body: Body): void
  readonly done: Done
}

/** A body that arrives. */
class Body {
  bytesHeld = 0
  private received = 0
  private readonly chunks: Buffer[] = []
  private readonly stream: BodyStream
  private readonly options: BodyOptions

  constructor(stream: BodyStream, options: BodyOptions) {
    this.stream = stream
    this.options = options
    stream.on('data', this.receive).on('end', this.complete).on('error', this.fail)
    stream.resume()
  }

  private readonly receive = (chunk: Buffer): void => {
    const { expected, limit, hold } = this.options
    this.received += chunk.length
    if (this.received > limit) {
      this.end(tooLarge(limit))
      return
    }
    this.chunks.push(chunk)
    // Most bodies arrive in one piece and are never counted.
    if (this.received !== expected) hold(this, chunk.length)
  }

  private readonly complete = (): void => {
    const { expected } = this.options
    const isWhole = Number.isNaN(expected) || this.received === expected
    // A copy, because chunks are views of buffers that sockets share.
    if (isWhole) this.end(null, Buffer.concat(this.chunks, this.received))
    else this.end(wrongLength())
  }

  private readonly fail = (): void => this.end(wrongLength())

  /** Ends the reading, with a whole body or the reason why there is none. */
  end(error: Error | null, body?: Buffer): void {
    this.stream.off('data', this.receive).off('end', this.complete).off('error', this.fail)
    this.options.release(this)
    this.options.done(error, body)
  }
}

function tooLarge(limit: number): Problem {
  return new Problem('payload_too_large', `The body is larger than ${limit} bytes.`)
}

function wrongLength(): Problem {
  return new Problem('invalid_request', 'The length of the body differs from Content-Length.')
}

function tooSlow(): Problem {
  return new Problem('overloaded', 'Too many bodies arrive slowly, this one too. Nothing was done; repeat the call.')
}
