import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { rolesWith } from '../../domain/basics/role.ts'
import { Problem } from '../../errors.ts'
import { type AddressOf, clientOf } from '../platform/client-address.ts'
import { createRateLimiter, type RateLimiter, rateLimited } from '../platform/rate-limiter.ts'
import type { UserReferences } from '../references/references.ts'
import type { Access, Authenticator } from './authenticator.ts'
import type { Principal } from './claims.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who the token belongs to; null on paths that need no token. */
    principal: Principal | null
  }
  interface FastifyContextConfig {
    /** What a token must allow, if it differs from what the scope of the route needs. */
    access?: Access
  }
}

/** Whose data a list may show: administrators see all users and deleted quotas; users see their own undeleted ones. */
export type Viewer = { role: 'admin' } | { role: 'user'; userId: number }

/**
 * Counts the tokens of each client that turned out to be invalid. Above its limit no further token of the client is verified. Known
 * tokens are still accepted, so a client does not shut out others behind the same proxy.
 */
export interface VerificationLimit {
  /** @throws Problem `rate_limited` if the client of a request is above its limit */
  check(request: Parameters<AddressOf>[0]): void
  count(request: Parameters<AddressOf>[0]): void
  /** Counts the token of a request that is still to be handled, even if its client goes before: then it is not counted again. */
  countAhead(request: Parameters<AddressOf>[0]): void
}

export function createVerificationLimit(perMinute: number, addressOf: AddressOf): VerificationLimit {
  const failures = createRateLimiter({ perMinute })
  /** The connections whose next request is counted. */
  const ahead = new WeakSet<object>()
  const clientOfRequest = (request: Parameters<AddressOf>[0]) => clientOf(addressOf(request) ?? '')
  return {
    check(request) {
      if (ahead.has(request.socket)) return
      const waitMs = failures.waitOf(clientOfRequest(request))
      if (waitMs > 0) throw rateLimited('Too many invalid tokens came from this address.', waitMs)
    },
    count(request) {
      if (!ahead.delete(request.socket)) failures.take(clientOfRequest(request))
    },
    countAhead(request) {
      failures.take(clientOfRequest(request))
      ahead.add(request.socket)
    },
  }
}

/**
 * Refuses requests without a valid token, and those whose token does not allow the route. Runs before the body is read.
 * Covers the routes that are registered after this call.
 *
 * @param scopeAccess what routes need that declare no `access` of their own
 */
export function guard(
  app: FastifyInstance,
  authenticator: Authenticator,
  scopeAccess: Access,
  limit: VerificationLimit,
): void {
  app.addHook('onRoute', route => {
    const access = route.config?.access ?? accessByMethod(scopeAccess, route.method)
    // A hook per route, because finding the route of a request costs more than this check.
    const permit: onRequestHookHandler = (request, _reply, done) => {
      authenticator.require(principalOf(request), access)
      done()
    }
    route.onRequest = [permit, ...[route.onRequest ?? []].flat()]
    route.schema = { ...route.schema, ...securityOf(access) }
  })

  app.addHook('onRequest', (request, _reply, done) => {
    const found = authenticator.authenticate(request.headers.authorization, () => limit.check(request.raw))
    // A known token is answered synchronously; only a new one is verified.
    if (found instanceof Promise) {
      const verified = found.catch(error => {
        if (error instanceof Problem && error.code === 'unauthenticated') limit.count(request.raw)
        throw error
      })
      const admitted = verified.then(principal => {
        request.principal = principal
      })
      admitted.then(() => done(), done)
    } else {
      request.principal = found
      done()
    }
  })
}

/**
 * Refuses calls above a principal's limit, before their bodies are read. Comes after the guard, which sets the principal.
 *
 * @param limit what the refusal says, such as `6000 calls per minute`
 */
export function limitPrincipals(app: FastifyInstance, limiter: RateLimiter, limit: string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const waitMs = limiter.take(principalOf(request).subject)
    done(waitMs > 0 ? rateLimited(`At most ${limit}.`, waitMs) : undefined)
  })
}

/**
 * Finds the users of tokens that name theirs by a reference. Comes after the limit of principals: a reference that no user has is looked
 * up for each call, as it may be given to one at any time.
 */
export function identifyUsers(app: FastifyInstance, references: UserReferences): void {
  app.addHook('onRequest', async request => {
    const principal = principalOf(request)
    const { userId, userRef } = principal
    if (userId !== null || userRef === null) return
    const found = references.recall(userRef) ?? (await references.find(userRef))
    if (typeof found === 'number') request.principal = { ...principal, userId: found }
  })
}

/** Under `read`, only GET and HEAD read: other methods need `change`. */
function accessByMethod(scopeAccess: Access, method: string | string[]): Access {
  if (scopeAccess !== 'read') return scopeAccess
  return [method].flat().every(name => name === 'GET' || name === 'HEAD') ? 'read' : 'change'
}

/** What the OpenAPI document says about a route: its permission, and the roles of which a token needs one. */
function securityOf(access: Access): object {
  if (access === 'anyone' || access === 'own') return {}
  return { 'x-permission': access, security: rolesWith(access).map(role => ({ bearer: [role] })) }
}

/** The principal of a request on a guarded path. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('this route has no guard, so the request has no principal')
  return request.principal
}

/** The user id of a request on a path that is guarded for users. */
export function userIdOf(request: FastifyRequest): number {
  const { userId } = principalOf(request)
  if (userId === null) throw new Error('this route is not guarded for users, so the request may have no user id')
  return userId
}
