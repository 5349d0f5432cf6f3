import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { updateProfile } from '../../admin/users/change-profile.ts'
import { requestErasure } from '../../admin/users/erase-user.ts'
import { IfMatchHeaders } from '../../contract/quotas.ts'
import { EraseQuery, ProfileReq, UserParams, UsersQuery } from '../../contract/users.ts'
import { findErasure } from '../../db/users/erasure.ts'
import { findProfile } from '../../db/users/profiles.ts'
import { findUser, isKnownUser, listUsers } from '../../db/users/users.ts'
import { followRules } from '../changes/follow-rules.ts'
import { accepted, found, refusal } from '../changes/outcomes.ts'
import { authorOf, versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { sendLines } from '../platform/reads.ts'
import { change, get } from '../platform/routes.ts'
import { getList, listOf } from '../resource/list.ts'
import { exportOf } from './export.ts'
import { entryViewOf, erasureViewOf, taggedProfile, userOf, userViewOf } from './responses.ts'

const users = listOf({ query: UsersQuery, key: cursorInteger, read: listUsers, view: entryViewOf })

/** The directory of users: `/api/sms/admin/users`, and one of them. */
export function userRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  getList(server, '', context, users, {
    ...operation('Administrator', 'listUsers', 'List users', 'By ascending id.'),
    answer: 'UserPage',
  })

  get(server, '/:user_id', {
    ...operation(
      'Administrator',
      'getUser',
      'Read a user',
      'If nothing is stored of the user, the answer is 404. A user without any quota left has zeros.',
    ),
    params: UserParams,
    answer: 'User',
    errors: ['not_found'],
    handler: async request => {
      const { user_id: userId } = request.params
      const user = found(await findUser(db, userId, now()), userOf(userId))
      return userViewOf(user, await findErasure(db, userId))
    },
  })
}

/** What another system calls a user: `/api/sms/admin/users/{user_id}/profile`. */
export function profileRoutes(server: FastifyInstance, { db, now, pauses }: RouteContext): void {
  get(server, '/:user_id/profile', {
    ...operation(
      'Administrator',
      'getProfile',
      'Read the profile of a user',
      'If nothing is stored of the user, the answer is 404. The profile of a user is empty, and of version 0, until something is set.',
    ),
    params: UserParams,
    answer: 'UserProfile',
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { user_id: userId } = request.params
      const profile = await findProfile(db, userId)
      if (profile.version === 0 && !(await db.transaction(tx => isKnownUser(tx, userId), 'snapshot')))
        throw refusal({ outcome: 'not_found' }, userOf(userId))
      return taggedProfile(reply, profile)
    },
  })

  change(server, 'PUT', '/:user_id/profile', {
    ...operation(
      'Administrator',
      'updateProfile',
      'Update the profile of a user',
      'Fields that are left out stay. A user who is not known yet is made. Safe to repeat. The profile is exported and erased with the user.',
    ),
    params: UserParams,
    headers: IfMatchHeaders,
    body: ProfileReq,
    answer: 'UserProfile',
    errors: ['version_mismatch', 'immutable_field', 'conflict', 'being_erased'],
    handler: async (request, reply) => {
      const { user_id: userId } = request.params
      const check = versionCheck(request.headers['if-match'])
      const updated = await updateProfile(db, userId, request.body, authorOf(request, now()), check)
      const { profile } = accepted(updated, userOf(userId))
      if (request.body.rate_card_id !== undefined) await followRules(pauses)
      return taggedProfile(reply, profile)
    },
  })
}

/** Everything of a user: `GET /api/sms/admin/users/{user_id}/data`. */
export function userDataRoutes(server: FastifyInstance, { db, now, exportSlots }: RouteContext): void {
  get(server, '/:user_id/data', {
    config: { access: 'export' },
    ...operation(
      'Administrator',
      'exportUser',
      'Export the data of a user',
      'Everything that is stored of the user, as newline-delimited JSON: the profile with its changes, quotas with their past windows and changes, reservations, denials, usage, events, and the names in tokens that had a role. It has what users do not read themselves: `metadata`, and who made each change. It is read page by page: each record is as of its reading, and what is written meanwhile may be missing, as may the usage of the last seconds. Check that the last line is `end`.',
    ),
    params: UserParams,
    answer: 'ExportRecord',
    isLines: true,
    errors: ['not_found', 'overloaded'],
    handler: async (request, reply) => {
      exportSlots.hold(reply)
      const { user_id: userId } = request.params
      if (!(await db.transaction(tx => isKnownUser(tx, userId), 'snapshot')))
        throw refusal({ outcome: 'not_found' }, userOf(userId))
      reply.header('content-disposition', `attachment; filename="user-${userId}.ndjson"`)
      return sendLines(reply, exportOf(db, userId, now()))
    },
  })
}

/** The erasure of a user: `DELETE /api/sms/admin/users/{user_id}/data`, and its record. */
export function erasureRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'DELETE', '/:user_id/data', {
    ...operation(
      'Administrator',
      'eraseUser',
      'Erase the data of a user',
      'Deletes all quotas of the user at once, and then everything else in the background. Until that is finished, no quota can be created for the user, sends find no quota, and what is sent by force is erased, too. Repeated calls return the same record. At the end `user.erased` is emitted, and only the record of the erasure is left.',
    ),
    params: UserParams,
    query: EraseQuery,
    answer: {
      200: { ...Type.Ref('Erasure#'), description: 'Nothing is left to erase. The record of the last erasure.' },
      202: { ...Type.Ref('Erasure#'), description: 'The erasure is under way.' },
    },
    errors: ['not_found', 'open_reservations'],
    handler: async (request, reply) => {
      const { user_id: userId } = request.params
      const requested = await requestErasure(db, userId, request.query.force === 'true', authorOf(request, now()))
      const erasure = erasureViewOf(accepted(requested, userOf(userId)).erasure)
      return reply.code(erasure.status === 'running' ? 202 : 200).send(erasure)
    },
  })

  get(server, '/:user_id/data/erasure', {
    ...operation('Administrator', 'getErasure', 'Read the erasure of a user', 'The last one, which stays as a record.'),
    params: UserParams,
    answer: 'Erasure',
    errors: ['not_found'],
    handler: async request => {
      const { user_id: userId } = request.params
      const missing = `User ${userId} was never erased.`
      return erasureViewOf(found(await findErasure(db, userId), { what: 'erasure', missing }))
    },
  })
}
