import Type, { type Static, type TSchema } from 'typebox'

/** What `/livez` and `/readyz` answer. */

export const Health = Type.Object({ status: Type.Literal('ok') }, { $id: 'Health' })

/** The named schemas of the OpenAPI document, by `$id`. */
export const OPERATIONS_COMPONENTS = { Health } satisfies Record<string, TSchema>

export type Health = Static<typeof Health>
