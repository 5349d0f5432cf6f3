/** docs/openapi.json, as the generators of the clients read it. */
import { readFile } from 'node:fs/promises'
import { camelName, snakeName } from '../../client/src/names.ts'
import type { Route } from '../../client/src/route.ts'
import { withPartsInPlace } from '../../src/http/platform/openapi-shared.ts'

const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url)

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  /** The type of a boolean, and its only value. */
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const document = withPartsInPlace(JSON.parse(await readFile(DOCUMENT, 'utf8'))) as unknown as Document
export const { schemas } = document.components
export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({ method, path, operation }))
    .filter(({ operation }) => sendsJson(operation)),
)

/** @throws Error for a name that the client could not send as the API spells it */
export function camel(name: string): string {
  const changed = camelName(name)
  if (snakeName(changed) !== name) throw new Error(`"${name}" would become "${snakeName(changed)}" on its way back`)
  return changed
}

/** Lines are sent by `client/src/many.ts`. */
function sendsJson({ requestBody }: Operation): boolean {
  return requestBody === undefined || 'application/json' in requestBody.content
}

/** The members by which answers are best known. Those of all versions of the service have them. */
const DISTINCTIVE = ['granted', 'state']

/** One member of the answer: a service of another version may have others. */
export function answersOf(responses: Operation['responses']): Pick<Route, 'answers'> {
  const [media] = Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? Object.entries(content ?? {}) : [],
  )
  if (media === undefined || media[0] === 'application/x-ndjson') return {}
  const [whole, ...others] = variantsOf(media[1].schema)
  const { properties = {}, required = [], type } = whole ?? {}
  const names = required.filter(name => others.every(other => other.required?.includes(name)))
  const members = [...DISTINCTIVE.filter(name => names.includes(name)), ...names].flatMap(name => {
    const ofMember = jsonTypeOf(properties[name] ?? {})
    return ofMember === undefined ? [] : [{ member: camel(name), type: ofMember }]
  })
  return { answers: members[0] ?? { type: String(type) } }
}

/** Undefined if it can be null. */
function jsonTypeOf(schema: Schema): string | undefined {
  const [{ type, const: value, enum: values = [] } = {}] = variantsOf(schema)
  if (Array.isArray(type)) return undefined
  return type === 'integer' ? 'number' : (type ?? typeof (value ?? values[0]))
}

function variantsOf(schema: Schema): Schema[] {
  const { $ref = '', anyOf, oneOf, allOf } = schema
  const named = schemas[$ref.replace('#/components/schemas/', '')]
  if (named !== undefined) return variantsOf(named)
  if (allOf === undefined) return (anyOf ?? oneOf)?.flatMap(variantsOf) ?? [schema]
  const parts = allOf.flatMap(variantsOf)
  const properties = Object.assign({}, ...parts.map(part => part.properties))
  return [{ ...Object.assign({}, ...parts), properties, required: parts.flatMap(part => part.required ?? []) }]
}
