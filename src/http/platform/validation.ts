import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { FORMATS } from './formats.ts'

/** No answer lists more issues than these. */
const MAX_FAULTS = 100

// All issues at once; bodies are small, and so is what can be wrong with them.
Settings.Set({ maxErrors: 500 })

/** A JSON Schema as far as the contract uses it. */
interface Schema {
  type?: string
  anyOf?: Schema[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  uniqueItems?: boolean
  pattern?: string
  format?: string
  /** The value is told to nobody, not even back to its sender. */
  writeOnly?: boolean
}

/** Finds everything that is wrong with a value; an empty list if nothing is. */
export type Check = (value: unknown) => readonly ValidationIssue[]

const FLAWLESS: readonly ValidationIssue[] = []

/**
 * Compiles a schema into a check that costs little when the value is right and, when it is not, tells every fault at
 * once in words: where, what is accepted, and what came instead.
 */
export function compileCheck(schema: TSchema, inText = false): Check {
  const validator = Compile(schema)
  return value =>
    validator.Check(value) ? FLAWLESS : issuesOf(schema as Schema, value, validator.Errors(value), inText)
}

/**
 * Compiles a schema into what Fastify checks requests with. Nothing is coerced in bodies; in paths and queries a plain
 * decimal number becomes one where the schema asks for one.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const inText = httpPart === 'querystring' || httpPart === 'params'
  const validate = validatorOf(compileCheck(schema, inText))
  return inText ? input => validate(readNumbers(schema as Schema, input as Record<string, unknown>)) : validate
}

/** A check as Fastify calls it. */
export function validatorOf(check: Check): (value: unknown) => { value: unknown } | { error: Error } {
  return value => {
    const issues = check(value)
    return issues.length === 0 ? { value } : { error: invalidRequest(issues) }
  }
}

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/

/** `7` is a number in a query; `+7`, `07`, `7.0` and `7e0` stay text, which the schema then refuses. */
function readNumbers(schema: Schema, input: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const isNumber = schema.properties?.[name]?.type === 'integer' && typeof value === 'string' && DECIMAL.test(value)
    return [name, isNumber ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}

interface SchemaError {
  keyword: string
  instancePath: string
  params: object
}

function issuesOf(schema: Schema, value: unknown, errors: readonly SchemaError[], inText: boolean): ValidationIssue[] {
  const issues = new Map<string, string>()
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === 'boolean') continue // OutboxEvent better by the `additionalProperties` that follows it.
    if ('requiredProperties' in params) {
      for (const name of params.requiredProperties as string[]) {
        const path = `${instancePath}/${name}`
        issues.set(path, `is required: ${accepts(schemaAt(schema, path))}`)
      }
    } else if ('additionalProperties' in params) {
      for (const name of params.additionalProperties as string[])
        issues.set(`${instancePath}/${escapePointer(name)}`, unknownName(schemaAt(schema, instancePath)))
    } else {
      const expected = schemaAt(schema, instancePath)
      const instead = isTold(expected) ? `, not ${brief(valueAt(value, instancePath))}` : ''
      issues.set(instancePath, `must be ${accepts(expected)}${instead}`)
    }
  }
  // A list with a wrong value is wrong itself; only the value is worth a word.
  const paths = [...issues.keys()]
  const isInnermost = (path: string) => !paths.some(other => other.startsWith(`${path}/`))
  return [...issues]
    .filter(([path]) => isInnermost(path))
    .slice(0, MAX_FAULTS)
    .map(([path, message]) => ({ path: inText ? path.slice(1) : path, message }))
}

/** Whether what came may be repeated. In the place of an object may have come what belongs inside it. */
function isTold({ type, writeOnly }: Schema): boolean {
  return type !== 'object' && writeOnly !== true
}

function unknownName(schema: Schema): string {
  if (schema.patternProperties !== undefined) {
    return `is not a key that is accepted; keys match ${Object.keys(schema.patternProperties).join(' or ')}`
  }
  const names = Object.keys(schema.properties ?? {})
  return names.length === 0 ? 'is unknown; none is accepted here' : `is unknown; accepted are ${names.join(', ')}`
}

/** What a schema accepts, in words. */
function accepts(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(accepts).join(', or ')
  if (schema.enum !== undefined) return `one of ${schema.enum.map(value => JSON.stringify(value)).join(', ')}`
  switch (schema.type) {
    case 'null':
      return 'null'
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `a whole number from ${schema.minimum} to ${schema.maximum}`
    case 'array':
      return acceptedList(schema)
    case 'object':
      return schema.maxProperties === undefined ? 'an object' : `an object with at most ${schema.maxProperties} keys`
    case 'string':
      return acceptedText(schema)
    default:
      return 'another value'
  }
}

function acceptedList({ minItems = 0, maxItems, uniqueItems, items = {} }: Schema): string {
  const bounds = `a list of ${minItems} to ${maxItems} ${uniqueItems ? 'different values' : 'values'}`
  return Object.keys(items).length === 0 ? bounds : `${bounds}, each ${accepts(items)}`
}

function acceptedText({ format, pattern, minLength, maxLength }: Schema): string {
  if (pattern !== undefined) return `a string that matches ${pattern}`
  const words = format === undefined ? 'a string' : (FORMATS[format]?.accepts ?? `a ${format}`)
  if (maxLength === undefined || format !== 'text') return words
  return minLength === undefined
    ? `${words}, of at most ${maxLength} characters`
    : `${words}, of ${minLength} to ${maxLength} characters`
}

/** The subschema that judges the value at a JSON pointer. */
function schemaAt(schema: Schema, path: string): Schema {
  let at = schema
  for (const step of stepsOf(path)) {
    const inside = at.anyOf?.find(option => option.type === 'array' || option.type === 'object') ?? at
    at = inside.properties?.[step] ?? inside.items ?? Object.values(inside.patternProperties ?? {})[0] ?? {}
  }
  return at
}

function valueAt(value: unknown, path: string): unknown {
  let at = value
  for (const step of stepsOf(path)) at = (at as Record<string, unknown>)[step]
  return at
}

function stepsOf(path: string): string[] {
  return path === ''
    ? []
    : path
        .slice(1)
        .split('/')
        .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function escapePointer(name: string): string {
  return name.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The offending value, short enough to be repeated to whoever sent it. */
function brief(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > 40 ? `a string of ${value.length} characters` : JSON.stringify(value.toWellFormed())
  }
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return JSON.stringify(value) ?? 'nothing'
}
