/**
 * Writes what the clients take of docs/openapi.json: client/src/api.ts, the types and routes, and python/src/sms_quota/_api.py. With
 * --check, only checks that they are current (exit code 1 if not).
 *
 * In TypeScript, names become camelCase. The libraries that print types from an OpenAPI document need the compiler of TypeScript 5.
 */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Route } from '../client/src/route.ts'
import { answersOf, camel, type Operation, operations, type Schema, schemas } from './client/document.ts'
import { PYTHON_SOURCE } from './client/python.ts'

const FILE = fileURLToPath(new URL('../client/src/api.ts', import.meta.url))
const PYTHON_FILE = fileURLToPath(new URL('../python/src/sms_quota/_api.py', import.meta.url))

/** Fields of an input or of a type. */
interface Field {
  name: string
  type: string
  isRequired: boolean
  description: string | undefined
}

/** The names of fields whose keys are the user's own, so that they stay as they are. */
const ownKeys = new Set<string>()

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

/** A path takes the reference of a user in place of the id, behind `ref:`. */
function usersInPath(id: Omit<Field, 'description'>): Field[] {
  return [
    { ...id, description: 'The user. Either this or `userRef` is required.' },
    { ...id, name: 'userRef', type: 'string', description: 'Instead of `userId`: the reference of the user.' },
  ]
}

/** The parameters and the body's fields of an operation as one object, as the first parameter of its method. */
function inputOf({ operationId, parameters = [], requestBody }: Operation): string {
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

const types = Object.entries(schemas).map(
  ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`,
)
const methods = operations.map(({ operation }) => {
  const { operationId, summary, description } = operation
  const signature = `${operationId}(${inputOf(operation)}, options?: Options): Promise<${outputOf(operation)}>`
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

for (const [file, current] of [
  [FILE, await format(source)],
  [PYTHON_FILE, PYTHON_SOURCE],
] as const) {
  if (!process.argv.includes('--check')) {
    await writeFile(file, current)
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    process.stderr.write(`${relative(process.cwd(), file)} is not current: run npm run client\n`)
    process.exitCode = 1
  }
}

/** As the project's formatter prints it. */
async function format(code: string): Promise<string> {
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'))
  const args = [biome, 'format', '--stdin-file-path', FILE]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(code)
  return text(child.stdout)
}
