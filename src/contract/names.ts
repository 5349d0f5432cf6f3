import Type, { type TSchema } from 'typebox'
import { closed, text } from './schemas.ts'

/** The names of those who make changes and send, for people to read. */

/** Subjects of a call, at most. */
const MAX_SUBJECTS = 100

export const NamesQuery = Type.Object(
  {
    subject: Type.Array(text(255, { minLength: 1 }), {
      minItems: 1,
      maxItems: MAX_SUBJECTS,
      description:
        'The `sub` of a token, exactly, such as an `actor` or `updated_by`. Repeat the parameter for each, because a `sub` may have commas.',
    }),
  },
  closed,
)

export const PrincipalName = Type.Object(
  {
    subject: Type.String({ examples: ['7'] }),
    name: Type.String({ description: 'The `name` in the newest token of the subject.', examples: ['Ann Lee'] }),
  },
  { $id: 'PrincipalName', description: 'The name of a principal with a role, for people to read.' },
)

export const PrincipalNames = Type.Object(
  { items: Type.Array(Type.Ref('PrincipalName#'), { description: 'By subject. Those without a name are left out.' }) },
  { $id: 'PrincipalNames' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const NAME_COMPONENTS = { PrincipalName, PrincipalNames } satisfies Record<string, TSchema>
