/** Which routes take references in place of ids, and how the document shows it. */
import { withUserRef } from '../../contract/schemas.ts'

/** The part of a schema that says whether a user is named by id. */
interface Fields {
  properties?: Record<string, object>
  required?: string[]
}

/** Whether a user is named by id only: bodies of senders take references by themselves. */
export const namesUser = (schema: unknown): boolean => {
  const { properties = {} } = (schema ?? {}) as Fields
  return 'user_id' in properties && !('user_ref' in properties)
}

/** Whether a route takes references through this door. */
export function takesReference({ url, query, body }: { url: string; query?: unknown; body?: unknown }): boolean {
  return url.includes(':user_id') || namesUser(query) || namesUser(body)
}

const IN_PATH = 'In its place may stand `ref:` and the percent-encoded reference of the user.'

/** The schemas of a route as the document shows them: with references where the door takes them. */
export function withReferences<Schema extends object>(schema: Schema): Schema {
  const { params, querystring } = schema as { params?: Fields; querystring?: Fields }
  return {
    ...schema,
    ...(params !== undefined && namesUser(params) ? { params: withAlternative(params) } : {}),
    ...(querystring !== undefined && namesUser(querystring) ? { querystring: withUserRef(querystring) } : {}),
  }
}

function withAlternative(params: Fields): Fields {
  const { user_id = {}, ...others } = params.properties ?? {}
  const { description } = user_id as { description?: string }
  const words = description === undefined ? IN_PATH : `${description} ${IN_PATH}`
  return { ...params, properties: { user_id: { ...user_id, description: words }, ...others } }
}
