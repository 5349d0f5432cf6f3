import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { acceptedBy } from '../../contract/patterns.ts'
import { MAX_ITEM_ISSUES } from '../../domain/basics/bounds.ts'
import { invisibleIn, withoutUnseen } from '../../domain/basics/invisible.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { FORMATS } from './formats.ts'

/** The maximum number of issues in one response. */
const MAX_ISSUES = 100

/** An object with more unknown names is refused before they are listed: a body can hold thousands of them. */
const MAX_UNKNOWN_NAMES = 100

/** A list of different values that has more values repeated is refused before they are listed. */
const MAX_REPEATED = 500

// The validator stops at this many errors. The list may therefore lack what would be shown: it never decides.
Settings.Set({ maxErrors: 500 })

/** The part of JSON Schema that the contract uses. */
interface Schema {
  type?: string
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  additionalProperties?: unknown
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
  /** The value is never repeated, not even to its sender. */
  writeOnly?: boolean
}

/** The issues of a value that was refused: at least one. */
export type Issues = readonly [ValidationIssue, ...ValidationIssue[]]

/** Returns null if a value is valid, otherwise its issues. */
export type Check = (value: unknown) => Issues | null

/**
 * Compiles a schema into a check that is fast for valid values. For others it describes every issue: where it is, what is
 * accepted, and what was received instead. The validator alone decides whether a value is valid; the list only explains.
 *
 * @param inText whether the value comes from a path or a query, where issues name a parameter instead of a pointer
 */
export function compileCheck(schema: TSchema, inText = false): Check {
  const validator = Compile(schema)

  function describe(value: unknown): Issues {
    const large = largeValues(schema as Schema, value, '')
    const issues = large.length > 0 ? large : issuesOf(schema as Schema, value, validator.Errors(value))
    const [first = { path: '', message: `must be ${accepts(schema as Schema)}` }, ...others] = issues
      .slice(0, MAX_ISSUES)
      .map(({ path, message }) => ({ path: inText ? path.slice(1) : path, message }))
    return [first, ...others]
  }

  return value => (validator.Check(value) ? null : describe(value))
}

/**
 * Compiles a schema into a validator for Fastify. Values in bodies are never coerced. In paths and queries, a plain decimal
 * number becomes one where the schema expects it, and a single value a list.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const inText = httpPart === 'querystring' || httpPart === 'params'
  const validate = validatorOf(compileCheck(schema, inText))
  return inText ? input => validate(readTexts(schema as Schema, input as Record<string, unknown>)) : validate
}

/** The issues that are listed of one of many values. */
export function firstIssues([first, ...others]: Issues): Issues {
  return [first, ...others.slice(0, MAX_ITEM_ISSUES - 1)]
}

/** Makes a check a validator for Fastify. */
export function validatorOf(check: Check): (value: unknown) => { value: unknown } | { error: Error } {
  return value => {
    const issues = check(value)
    return issues === null ? { value } : { error: invalidRequest(issues) }
  }
}

/** The numbers of texts. A fraction has at most the digits that JavaScript writes without an exponent. */
const DECIMALS: Partial<Record<string, RegExp>> = {
  integer: /^(?:0|[1-9][0-9]{0,15})$/,
  number: /^(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,25})?$/,
}

/**
 * `7` is an integer in a query; `+7`, `07`, `7.0` and `7e0` stay text, which the schema then refuses. Where a fraction may stand, `7.0` is one. A list is a repeated
 * parameter, so one that occurs once is a list of one.
 */
function readTexts(schema: Schema, input: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const { type } = subschema(schema, name)
    if (typeof value !== 'string') return [name, value]
    if (type === 'array') return [name, [value]]
    return [name, DECIMALS[type ?? '']?.test(value) ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}

interface SchemaError {
  keyword: string
  instancePath: string
  params: object
}

function issuesOf(schema: Schema, value: unknown, errors: readonly SchemaError[]): ValidationIssue[] {
  const issues = new Map<string, string>()
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === 'boolean') continue // The `additionalProperties` error that follows says more.
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
      const given = valueAt(value, instancePath)
      const instead = isRepeatable(expected) ? `, not ${brief(given)}` : ''
      const invisible = typeof given === 'string' ? invisibleIn(given) : undefined
      const isIdentifier = [expected, ...(expected.anyOf ?? [])].some(({ format }) => format === 'identifier')
      const hasBlanks = isIdentifier && typeof given === 'string' && given !== given.trim()
      const blanks = hasBlanks ? '; it has blanks around it' : ''
      const named = invisible === undefined ? blanks : `; it has the invisible ${invisible}`
      issues.set(instancePath, `must be ${accepts(expected)}${instead}${named}`)
    }
  }
  // A list with an invalid value is invalid itself; only the value is reported.
  const outer = new Set([...issues.keys()].flatMap(pathsAbove))
  return [...issues].filter(([path]) => !outer.has(path)).map(([path, message]) => ({ path, message }))
}

/** The paths of the values that hold the value at a path. */
function pathsAbove(path: string): string[] {
  const steps = path.split('/')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('/'))
}

/**
 * An issue for each object or list within a value whose errors are too many for the validator to list: it takes seconds to list the
 * same value ten thousand times. Goes as deep as the schema.
 */
function largeValues(schema: Schema, value: unknown, path: string): ValidationIssue[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = insideOf(schema)
  const { type, items = {}, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = inside
  if (type !== (Array.isArray(value) ? 'array' : 'object')) return []
  if (Array.isArray(value)) {
    if (value.length > maxItems || (uniqueItems && new Set(value).size < value.length - MAX_REPEATED))
      return [{ path, message: `must be ${accepts(schema)}, not ${brief(value)}` }]
    return value.flatMap((item, index) => largeValues(items, item, `${path}/${index}`))
  }
  const names = Object.entries(value)
  const known = names.filter(([name]) => hasName(inside, name))
  const unknown = names.length - known.length
  if (inside.additionalProperties === false && unknown > MAX_UNKNOWN_NAMES)
    return [{ path, message: `has ${unknown} unknown names; ${acceptedNames(inside)}` }]
  return known.flatMap(([name, inner]) => largeValues(subschema(inside, name), inner, `${path}/${name}`))
}

function hasName({ properties = {}, patternProperties = {} }: Schema, name: string): boolean {
  return (
    Object.hasOwn(properties, name) || Object.keys(patternProperties).some(pattern => new RegExp(pattern).test(name))
  )
}

/** Whether an issue may repeat the received value. In place of an object it may be a write-only value of that object. */
function isRepeatable({ type, writeOnly }: Schema): boolean {
  return type !== 'object' && writeOnly !== true
}

function unknownName(schema: Schema): string {
  return `${schema.patternProperties === undefined ? 'is unknown' : 'is not a key that is accepted'}; ${acceptedNames(schema)}`
}

function acceptedNames({ properties = {}, patternProperties }: Schema): string {
  if (patternProperties !== undefined) return `keys are ${Object.keys(patternProperties).map(acceptedBy).join(' or ')}`
  const names = Object.keys(properties)
  return names.length === 0 ? 'none is accepted here' : `accepted are ${names.join(', ')}`
}

/** Describes what a schema accepts. */
function accepts(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(accepts).join(', or ')
  if (schema.enum !== undefined) return `one of ${schema.enum.map(value => JSON.stringify(value)).join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  switch (schema.type) {
    case 'null':
      return 'null'
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `a whole number from ${schema.minimum} to ${schema.maximum}`
    case 'number':
      return `a number from ${schema.minimum} to ${schema.maximum}`
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
  if (pattern !== undefined) return acceptedBy(pattern)
  const words = format === undefined ? 'a string' : (FORMATS[format]?.accepts ?? `a ${format}`)
  if (maxLength === undefined || (format !== 'text' && format !== 'identifier')) return words
  return minLength === undefined
    ? `${words}, of at most ${maxLength} characters`
    : `${words}, of ${minLength} to ${maxLength} characters`
}

/** The subschema for the value at a JSON pointer. */
function schemaAt(schema: Schema, path: string): Schema {
  let at = schema
  for (const step of stepsOf(path)) at = subschema(insideOf(at), step)
  return at
}

/** Of several alternatives, the one that holds other values. */
function insideOf(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type === 'array' || type === 'object') ?? schema
}

function subschema({ properties = {}, items, patternProperties = {} }: Schema, step: string): Schema {
  return (Object.hasOwn(properties, step) ? properties[step] : items) ?? Object.values(patternProperties)[0] ?? {}
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
  return withoutUnseen(name.slice(0, 64)).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A short description of the received value. */
function brief(value: unknown): string {
  if (typeof value === 'string') {
    if (value.length > 40) return `a string of ${value.length} characters`
    return withoutUnseen(JSON.stringify(value.toWellFormed()))
  }
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  // What JSON would show as null.
  if (value === Number.POSITIVE_INFINITY) return 'a number past 1.8e308'
  if (value === Number.NEGATIVE_INFINITY) return 'a number below -1.8e308'
  return JSON.stringify(value) ?? 'nothing'
}
