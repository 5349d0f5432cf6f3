/** Names of the API are snake_case, those of the client camelCase. */
import { OWN_KEYS } from './api.ts'

const camelOf = new Map<string, string>()
const snakeOf = new Map<string, string>()

/** A value of the API with the client's names. */
export function toCamel(value: unknown): unknown {
  return rename(value, camelName)
}

/** A value of the client with the API's names. */
export function toSnake(value: unknown): unknown {
  return rename(value, snakeName)
}

/** A name of the client as the API spells it. */
export function snakeName(name: string): string {
  return remember(snakeOf, name, () => name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`))
}

function camelName(name: string): string {
  return remember(camelOf, name, () => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
}

/** Answers have few different names. The bound is for those of a service that makes them up. */
function remember(names: Map<string, string>, name: string, make: () => string): string {
  let made = names.get(name)
  if (made === undefined) {
    made = make()
    if (names.size < 10_000) names.set(name, made)
  }
  return made
}

function rename(value: unknown, nameOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => rename(item, nameOf))
  if (typeof value !== 'object' || value === null) return value
  const renamed: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    renamed[nameOf(name)] = OWN_KEYS.has(name) ? member : rename(member, nameOf)
  }
  return renamed
}
