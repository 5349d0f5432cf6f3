import Type, { type Static, type TSchema } from 'typebox'
import { ROLES } from '../domain/basics/role.ts'
import { nullable, time, uint } from './schemas.ts'

/** Who a token belongs to. */

export const Caller = Type.Object(
  {
    subject: Type.String({ description: "The token's `sub`: the actor in the history.", examples: ['7'] }),
    name: nullable(Type.String(), {
      description:
        "The token's `name`, for people to read; null if it has none. The history keeps the subject; `GET /api/sms/admin/names` has the names of others.",
      examples: ['Ann Lee'],
    }),
    user_id: nullable(uint(), { description: "The user whose own paths the token opens; null if it is not a user's." }),
    user_ref: nullable(Type.String(), {
      description:
        'The reference by which the token names its user; null if it names none so. Where `user_id` is null, no user has the reference yet.',
    }),
    roles: Type.Array(Type.Enum([...ROLES]), {
      description: "The service's own role names, however the token spells them. Unknown roles are left out.",
    }),
    adjust_limit: nullable(uint(), {
      description:
        'The most units by which the token may move the limits of a user in 24 hours, together with what other support staff moved; 0 if it may not, null if nothing bounds it.',
    }),
    expires_at: time({ description: 'When the token expires.' }),
  },
  { $id: 'Caller', description: 'Who the token belongs to and what it allows.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const CALLER_COMPONENTS = { Caller } satisfies Record<string, TSchema>

export type Caller = Static<typeof Caller>
