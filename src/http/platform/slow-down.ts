/**
 * Slows down clients that only cost work: above a rate, their calls without a token are refused, their refusals wait before they are
 * sent, and their connections are not read meanwhile. So a flood ends at about twice as many calls a second as it has
 * connections, and at two hundred in all; calls of other clients are answered as always.
 */
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type AddressOf, clientOf, createAddressOf } from './client-address.ts'
import { createRateLimiter, rateLimited } from './rate-limiter.ts'

/** A request, as far as it says where it comes from. */
interface Client {
  readonly raw: Parameters<AddressOf>[0]
  readonly principal: { readonly subject: string } | null
}

export interface SlowDown {
  /** Counts a refusal, or a call without a token, for its principal or else its address. Returns whether it is above the rate. */
  isAbove(request: Client): boolean
  /** How long the client of a request is to wait before it calls again, in milliseconds. Counts nothing. */
  waitOf(request: Client): number
  /** Counts a health check for its address, and apart from all else: calls of others behind a proxy do not delay the proxy's own. */
  isHealthCheckAbove(request: Client['raw']): boolean
  /** Counts a request that is not valid HTTP for the address of its connection. */
  isBrokenAbove(address: string | undefined): boolean
}

/**
 * On average: long enough to end a flood, and shorter than usual time limits of clients. Each wait is chosen between half of it
 * and one and a half, because the clients of a flood call again when they are answered: after equal waits they would come in
 * waves, and the calls of others behind each wave.
 */
const WAIT_MS = 500
const waitMs = () => WAIT_MS * (0.5 + Math.random())

/**
 * If more connections than this wait, their refusals wait longer, up to ten times: a flood ends at some two hundred refusals a second, with
 * a hundred connections or a thousand.
 */
const CROWD = 100
const MAX_PATIENCE = 10

/** How many answers of a connection may wait. */
const MAX_WAITING = 8

/** Refusals of one principal: two hundred a second, since a sender may have as many invalid numbers among its messages. */
const OF_PRINCIPAL = { perMinute: 12_000, burstMs: 2_000 }

/** @param addressPerMinute calls of one address that come without a valid token; 0 is no limit */
export function createSlowDown(addressPerMinute: number, addressOf: AddressOf = createAddressOf(null)): SlowDown {
  const principals = createRateLimiter(OF_PRINCIPAL)
  const addresses = createRateLimiter({ perMinute: addressPerMinute })
  const healthChecks = createRateLimiter({ perMinute: addressPerMinute })
  const isBrokenAbove = (address: string | undefined) => addresses.take(clientOf(address ?? '')) > 0
  return {
    isAbove({ principal, raw }) {
      // Requests that fail before all hooks have no field for it.
      return principal?.subject === undefined ? isBrokenAbove(addressOf(raw)) : principals.take(principal.subject) > 0
    },
    waitOf: ({ principal, raw }) =>
      principal?.subject === undefined
        ? addresses.waitOf(clientOf(addressOf(raw) ?? ''))
        : principals.waitOf(principal.subject),
    isHealthCheckAbove: request => healthChecks.take(clientOf(addressOf(request) ?? '')) > 0,
    isBrokenAbove,
  }
}

/** A connection whose answers wait. */
interface Waiting {
  /** When the last of them may be sent, in milliseconds of a clock that never goes back. */
  lastAt: number
  count: number
}

const waitingOf = new WeakMap<Socket, Waiting>()
let waitingConnections = 0

/**
 * Resolves after the wait. Meanwhile the connection of the request is not read. The answers of a connection wait one after the
 * other, whether or not the client waits for them. A connection with more than `MAX_WAITING` is closed: its requests take memory.
 *
 * @param isRefusal whether the answer is one that may wait longer in a crowd; a health check may not
 */
export async function waitPaused({ socket }: { readonly socket: unknown }, isRefusal = false): Promise<void> {
  // Requests that tests inject have no connection.
  if (!(socket instanceof Socket)) return setTimeout(waitMs())
  const now = performance.now()
  const waiting = waitingOf.get(socket) ?? { lastAt: now, count: 0 }
  if (waiting.count === 0) waitingConnections += 1
  const patience = Math.min(MAX_PATIENCE, Math.max(1, waitingConnections / CROWD))
  waiting.lastAt += waitMs() * (isRefusal ? patience : 1)
  waiting.count += 1
  waitingOf.set(socket, waiting)
  if (waiting.count > MAX_WAITING) socket.destroy()
  socket.pause()
  await setTimeout(socket.destroyed ? 0 : waiting.lastAt - now)
  waiting.count -= 1
  if (waiting.count > 0) return
  waitingConnections -= 1
  waitingOf.delete(socket)
  socket.resume()
}

/** Counts all calls in a scope whose routes need no token, and refuses those above the rate. The refusal waits. */
export function slowDownCalls(scope: FastifyInstance, slowDown: SlowDown): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (slowDown.isAbove(request)) done(rateLimited('Too many calls without a token.', slowDown.waitOf(request)))
    else done()
  })
}
