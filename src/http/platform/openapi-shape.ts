/**
 * The form of the OpenAPI document that generators of clients understand. The contract writes "null or X" as a union, because that is what
 * validates and serializes. Many generators make a type of its own of each union and of null, take an integer for one of 32 bits, and
 * fail at an enum of booleans or at one without a type.
 */

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords whose values are data and no schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const'])
/** Keywords whose keys are names of the API. */
const NAMES = new Set(['properties', 'schemas', 'responses', 'paths'])

/** The same document, with each schema in the form. */
export function withUsualShapes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUsualShapes)
  return isObject(value) ? shapeOf(mapped(value, (name, one) => partOf(name, one))) : value
}

function partOf(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value
  return NAMES.has(keyword) && isObject(value)
    ? mapped(value, (_name, one) => withUsualShapes(one))
    : withUsualShapes(value)
}

export function mapped(value: Json, change: (name: string, one: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(name, one)]))
}

function shapeOf(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) return shapeOfUnion(anyOf.filter(isObject), rest)
  const { type, enum: values, items } = schema
  if (type === 'integer') return { format: widthOf(schema), ...schema }
  // With `enum: [true]` or `const: true` at the boolean itself, some generators compare with the text "true". In a part of its own those
  // of TypeScript narrow a union by it, and the others leave it out, but only beside another part; one looks for the type at the top.
  if (type === 'boolean' && Array.isArray(values))
    return { type, allOf: [{ type }, { const: values[0] }], ...without(schema, 'type', 'enum') }
  if (type === undefined && Array.isArray(values)) return { type: 'string', ...schema }
  // For Java, a set of named values is generated as one of texts, and does not compile.
  if (type === 'array' && isObject(items) && items.enum !== undefined) return without(schema, 'uniqueItems')
  return schema
}

const widthOf = ({ minimum, maximum }: Json) =>
  Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31 ? 'int32' : 'int64'

function shapeOfUnion(parts: readonly Json[], rest: Json): Json {
  const [one, ...others] = parts.filter(({ type }) => type !== 'null')
  if (others.every(({ type }) => type === 'integer') && one?.type === 'integer' && others.length === parts.length - 1)
    return { ...hullOf(parts), ...rest }
  // Generators know unions of objects. Of others, what is accepted stands in the description.
  const isOfOthers =
    others.length > 0 && [one, ...others].some(part => part?.type !== undefined && part.type !== 'object')
  if (isOfOthers) return rest
  // A reference cannot be null by itself: there a union is what generators know.
  if (others.length > 0 || typeof one?.type !== 'string') return { anyOf: parts, ...rest }
  return {
    ...one,
    type: [one.type, 'null'],
    ...(Array.isArray(one.enum) ? { enum: [...one.enum, null] } : {}),
    ...rest,
  }
}

/** From the lowest to the highest value of several ranges. What lies between them, the description has to say. */
function hullOf(ranges: readonly Json[]): Json {
  const minimum = Math.min(...ranges.map(range => Number(range.minimum)))
  const maximum = Math.max(...ranges.map(range => Number(range.maximum)))
  return { type: 'integer', format: widthOf({ minimum, maximum }), minimum, maximum }
}

function without(schema: Json, ...names: string[]): Json {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))
}
