import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Authenticator, Principal } from './authenticator.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whoever the token speaks for; null on paths that need none. */
    principal: Principal | null
  }
}

/** Lets only callers with a good token and, unless it is for anyone, the role past the door: before the body is read. */
export function guard(
  app: FastifyInstance,
  authenticator: Authenticator,
  role: 'anyone' | 'user' | 'admin' | 'sender',
): void {
  function admit(request: FastifyRequest, principal: Principal): void {
    if (role === 'user') authenticator.requireUser(principal)
    if (role === 'admin') authenticator.requireAdmin(principal)
    if (role === 'sender') authenticator.requireSender(principal)
    request.principal = principal
  }

  app.addHook('onRequest', (request, _reply, done) => {
    const found = authenticator.authenticate(request.headers.authorization)
    // A known token is let through at once; only a new one is waited for.
    if (found instanceof Promise) {
      found.then(principal => admit(request, principal)).then(() => done(), done)
    } else {
      admit(request, found)
      done()
    }
  })
}

/** The caller, on a guarded path. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('a route without a guard asked who is calling')
  return request.principal
}

/** The caller's user id, on a path that is guarded for users. */
export function userIdOf(request: FastifyRequest): number {
  const { userId } = principalOf(request)
  if (userId === null) throw new Error('a route not guarded for users asked for a user id')
  return userId
}
