import Type, { type TSchema } from 'typebox'
import { ROLES } from '../domain/role.ts'
import { nullable, time, uint } from './quotas.ts'

/** The shape of who is calling. */

const Caller = Type.Object(
  {
    subject: Type.String({ description: 'What the token names: the actor that the history shows.', examples: ['7'] }),
    user_id: nullable(uint(), { description: "Whose own paths it may call; null if the token is no user's." }),
    roles: Type.Array(Type.Enum([...ROLES]), {
      description: "By the service's own names, whatever they are called in the token; others are left out.",
    }),
    expires_at: time({ description: 'Until when the token is good.' }),
  },
  { $id: 'Caller', description: 'Whom a token speaks for, as this service reads it.' },
)

/** The shapes that the document names, by their `$id`. */
export const CALLER_COMPONENTS = { Caller } satisfies Record<string, TSchema>
