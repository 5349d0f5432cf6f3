/** Lets callers name a user by a reference wherever a path, a query or a body names one by id: one door for all routes. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isReference, PATTERNS } from '../../contract/patterns.ts'
import { newUserId } from '../../db/users/profiles.ts'
import { invalidRequest } from '../../errors.ts'
import type { Access } from '../auth/authenticator.ts'
import { principalOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { namesUser, takesReference } from '../platform/reference-schemas.ts'
import { refusalOfNew, type UserReferences, unknownUser } from '../references/references.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The reference by which the path named its user; null if it named the id, or none. */
    userRef: string | null
    /** The reference by which the body of a route that makes users named one who is not made yet; else null. */
    newUserRef: string | null
  }
  interface FastifyContextConfig {
    /** The handler makes the user of a new reference in the body (`newUserRef`), if the service is set so. */
    makesUser?: boolean
  }
}

/** Begins the part of a path that is a reference. */
const PREFIX = 'ref:'

/**
 * Puts the id in the place of a reference, before the request is validated: what comes behind knows ids only. Covers the routes that are
 * registered after this call; the guard comes first.
 *
 * @param access what the routes of this scope need
 */
export function acceptReferences(app: FastifyInstance, context: RouteContext, access: Access): void {
  const { references, settings, senderUsers } = context
  const identify = (request: FastifyRequest, ref: string) =>
    access === 'send'
      ? senderUsers.identify({ principal: principalOf(request), requestId: request.id }, { user_ref: ref }, () => false)
      : identifyUser(references, ref, settings.autoUsers)

  app.decorateRequest('newUserRef', null)
  app.addHook('onRoute', route => {
    const { querystring: query, body } = route.schema ?? {}
    if (!takesReference({ url: route.url, query, body })) return
    const makesUser = settings.autoUsers && route.config?.makesUser === true
    const identifyOrNote = async (request: FastifyRequest, ref: string): Promise<number> => {
      if (!makesUser) return identify(request, ref)
      const userId = references.recall(ref) ?? (await references.find(ref))
      if (userId === null) throw unknownUser(ref, null, true)
      if (userId === undefined) request.newUserRef = newReference(ref)
      return userId ?? newUserId()
    }
    const resolve = async (request: FastifyRequest): Promise<void> => {
      await resolveInPath(request, identify)
      if (namesUser(query)) await resolveIn(request.query, '', ref => identify(request, ref))
      if (namesUser(body)) await resolveIn(request.body, '/', ref => identifyOrNote(request, ref))
    }
    route.preValidation = [resolve, ...[route.preValidation ?? []].flat()]
  })
}

/** @throws Problem `unknown_user` */
async function identifyUser(references: UserReferences, ref: string, makesUsers: boolean): Promise<number> {
  const userId = references.recall(ref) ?? (await references.find(ref))
  if (userId == null) throw unknownUser(ref, userId, makesUsers)
  return userId
}

/** @throws Problem if no user is made for the reference */
function newReference(ref: string): string {
  const refusal = refusalOfNew(ref)
  if (refusal !== undefined) throw refusal
  return ref
}

type Identify = (request: FastifyRequest, ref: string) => number | Promise<number>

async function resolveInPath(request: FastifyRequest, identify: Identify): Promise<void> {
  const params = request.params as Record<string, string>
  const part = params.user_id
  if (part === undefined || !part.startsWith(PREFIX)) return
  const ref = part.slice(PREFIX.length)
  if (!isReference(ref))
    throw invalidRequest([{ path: 'user_id', message: `must have, after ${PREFIX}, ${PATTERNS.userRef.accepts}` }])
  params.user_id = String(await identify(request, ref))
  request.userRef = ref
}

async function resolveIn(
  fields: unknown,
  prefix: string,
  identify: (ref: string) => number | Promise<number>,
): Promise<void> {
  if (typeof fields !== 'object' || fields === null || !('user_ref' in fields)) return
  const { user_ref: ref } = fields
  const path = `${prefix}user_ref`
  if ('user_id' in fields)
    throw invalidRequest([{ path, message: 'is not accepted together with user_id, which names the user already' }])
  if (typeof ref !== 'string' || !isReference(ref))
    throw invalidRequest([{ path, message: `must be ${PATTERNS.userRef.accepts}` }])
  const userId = await identify(ref)
  // In a query, all values are text.
  Object.assign(fields, { user_id: prefix === '' ? String(userId) : userId })
  delete fields.user_ref
}
