/**
 * Writes client/src/api.ts, the types and routes of the client, from docs/openapi.json. With --check, only checks that it is
 * current (exit code 1 if not).
 *
 * Names become camelCase. The libraries that print types from an OpenAPI document need the compiler of TypeScript 5.
 */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { camelName, snakeName } from '../client/src/names.ts'
import type { Route } from '../client/src/route.ts'
import { withPartsInPlace } from '../src/http/platform/openapi-shared.ts'

const FILE = fileURLToPath(new URL('../client/src/api.ts', import.meta.url))
const DOCUMENT = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

interface Schema {
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

interface Operation {
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

/** Fields of an input or of a type. */
interface Field {
  name: string
  type: string
  isRequired: boolean
  description: string | undefined
}

/** The names of fields whose keys are the user's own, so that they stay as they are. */
const ownKeys = new Set<string>()

/** @throws Error for a name that the client could not send as the API spells it */
function camel(name: string): string {
  const changed = camelName(name)
  if (snakeName(changed) !== name) throw new Error(`"${name}" would become "${snakeName(changed)}" on its way back`)
  return changed
}

function typeOf(schema: Schema): string {
  const { $ref, type, enum: values, allOf, anyOf, oneOf, items, properties, additionalProperties } = schema
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (allOf !== undefined)
    return allOf
      .map(typeOf)
      .filter(one => one !== 'boolean')
      .join(' & ')
  if (values !== undefined) return values.map(value => JSON.stringify(value)).join(' | ')
  const union = anyOf ?? oneOf
  if (union !== undefined) return [...new Set(union.map(typeOf))].join(' | ')
  if (Array.isArray(type)) return type.map(one => (one === 'null' ? one : typeOf({ ...schema, type: one }))).join(' | ')
  if (type === 'array') return `ReadonlyArray<${items === undefined ? 'unknown' : typeOf(items)}>`
  if (properties !== undefined && Object.keys(properties).length > 0)
    return `{${fieldsOf(schema).map(print).join('\n')}}`
  if (type === 'object') return `Readonly<Record<string, ${valueType(additionalProperties)}>>`
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  return 'unknown'
}

const valueType = (values: boolean | Schema | undefined) => (typeof values === 'object' ? typeOf(values) : 'unknown')

function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => {
    if (typeof schema.additionalProperties === 'object') ownKeys.add(camel(name))
    const { description } = schema
    return { name: camel(name), type: typeOf(schema), isRequired: required.includes(name), description }
  })
}

function print({ name, type, isRequired, description }: Field): string {
  return `${comment(description)}readonly ${name}${isRequired ? '' : '?'}: ${type}`
}

function comment(...texts: (string | undefined)[]): string {
  const text = texts.filter(part => part !== undefined).join('\n\n')
  if (text === '') return ''
  return text.includes('\n') ? `/**\n${text.replaceAll(/^/gm, ' * ')}\n */\n` : `/** ${text} */\n`
}

/** Lines are sent by `client/src/many.ts`. */
function sendsJson({ requestBody }: Operation): boolean {
  return requestBody === undefined || 'application/json' in requestBody.content
}

/** A path takes the reference of a user in place of the id, behind `ref:`. */
function usersInPath(id: Omit<Field, 'description'>): Field[] {
  return [
    { ...id, description: 'The user. Either this or `userRef` is required.' },
    { ...id, name: 'userRef', type: 'string', description: 'Instead of `userId`: the reference of the user.' },
  ]
}

/** The parameters and the body's fields of an operation as one object, as the first parameter of its method. */
function inputOf(
  { operationId, parameters = [], requestBody }: Operation,
  { schemas }: Document['components'],
): string {
  const fields: Field[] = parameters
    .filter(parameter => parameter.in !== 'header')
    .flatMap(({ name, in: place, required = false, description = '', schema }) => {
      const isUser = name === 'user_id' && place === 'path'
      const field = { name: camel(name), type: typeOf(schema), isRequired: required && !isUser }
      const words = description === '' ? schema.description : description
      return isUser ? usersInPath(field) : [{ ...field, description: words }]
    })
  const body = requestBody?.content['application/json']?.schema
  const named = body === undefined ? '' : typeOf(body)
  const taken = new Set(fieldsOf(schemas[named] ?? {}).map(({ name }) => name))
  const twice = fields.find(({ name }) => taken.has(name))
  if (twice !== undefined) throw new Error(`${operationId} has "${twice.name}" in its path or query and in its body`)
  const own = fields.length === 0 ? '' : `{${fields.map(print).join('\n')}}`
  const type = [own, named].filter(part => part !== '').join(' & ')
  if (type === '') return 'input?: Record<string, never>'
  const isRequired =
    parameters.some(({ in: place }) => place === 'path') || fields.some(field => field.isRequired) || named !== ''
  return `input${isRequired ? '' : '?'}: ${type}`
}

function outputOf({ responses }: Operation): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.entries(content ?? { none: { schema: {} } }))
    .map(([mediaType, { schema }]) => {
      if (mediaType === 'none') return 'undefined'
      if (mediaType === 'application/x-ndjson') return `AsyncIterable<${typeOf(schema)}>`
      return mediaType.startsWith('text/') ? 'string' : typeOf(schema)
    })
  return [...new Set(types)].join(' | ')
}

function routeOf(method: string, path: string, { parameters = [], requestBody, responses }: Operation): Route {
  const query = parameters.filter(parameter => parameter.in === 'query').map(({ name }) => camel(name))
  const headers = parameters.filter(parameter => parameter.in === 'header').map(({ name }) => name.toLowerCase())
  const isLines = Object.values(responses).some(({ content }) => content?.['application/x-ndjson'] !== undefined)
  return {
    method: method.toUpperCase(),
    path,
    ...(query.length > 0 && { query }),
    ...(requestBody !== undefined && { hasBody: true }),
    ...(headers.includes('idempotency-key') && { takesKey: true }),
    ...(isLines && { isLines: true }),
    ...answersOf(responses),
  }
}

/** The members by which answers are best known. Those of all versions of the service have them. */
const DISTINCTIVE = ['granted', 'state']

/** One member of the answer: a service of another version may have others. */
function answersOf(responses: Operation['responses']): Pick<Route, 'answers'> {
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
  const named = components.schemas[$ref.replace('#/components/schemas/', '')]
  if (named !== undefined) return variantsOf(named)
  if (allOf === undefined) return (anyOf ?? oneOf)?.flatMap(variantsOf) ?? [schema]
  const parts = allOf.flatMap(variantsOf)
  const properties = Object.assign({}, ...parts.map(part => part.properties))
  return [{ ...Object.assign({}, ...parts), properties, required: parts.flatMap(part => part.required ?? []) }]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const { paths, components } = withPartsInPlace(JSON.parse(await readFile(DOCUMENT, 'utf8'))) as unknown as Document
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({ method, path, operation }))
    .filter(({ operation }) => sendsJson(operation)),
)

const types = Object.entries(components.schemas).map(
  ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`,
)
const methods = operations.map(({ operation }) => {
  const { operationId, summary, description } = operation
  const signature = `${operationId}(${inputOf(operation, components)}, options?: Options): Promise<${outputOf(operation)}>`
  return comment(`${summary}.`, description) + signature
})
const routes = operations.map(
  ({ method, path, operation }) => `${operation.operationId}: ${JSON.stringify(routeOf(method, path, operation))},`,
)

const source = `/** The types and routes of the API. Generated by \`npm run client\` from docs/openapi.json. Do not edit. */
import type { Route } from './route.ts'

${types.join('\n')}
/** Every operation. Times are texts in RFC 3339, in UTC. \`Options\` are those of a call. */
export interface Api<Options> {
${methods.join('\n')}
}

export type OperationId = keyof Api<never>

export const ROUTES: Readonly<Record<OperationId, Route>> = {
${routes.join('\n')}
}

/** The fields whose keys are not names of the API. */
export const OWN_KEYS: ReadonlySet<string> = new Set(${JSON.stringify([...ownKeys].sort())})
`

const current = await format(source)
if (!process.argv.includes('--check')) {
  await writeFile(FILE, current)
} else if ((await readFile(FILE, 'utf8').catch(() => '')) !== current) {
  process.stderr.write('client/src/api.ts is not current: run npm run client\n')
  process.exitCode = 1
}

/** As the project's formatter prints it. */
async function format(code: string): Promise<string> {
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'))
  const args = [biome, 'format', '--stdin-file-path', FILE]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(code)
  return text(child.stdout)
}
