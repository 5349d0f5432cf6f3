/** Renames the fields of what the API takes and answers: its names are snake_case, those of the client camelCase. */
import { OWN_KEYS } from './api.ts'

/** A value of the API with the client's names. */
export const toCamel = renamer(camelName)

/** A value of the client with the API's names. */
export const toSnake = renamer(snakeName)

/** Answers have few different names. The bound is for a service that makes them up. */
const MAX_REMEMBERED = 10_000

function renamer(spell: (name: string) => string): (value: unknown) => unknown {
  const spelled = new Map<string, string>()

  function nameOf(name: string): string {
    let other = spelled.get(name)
    if (other === undefined) {
      other = spell(name)
      if (spelled.size < MAX_REMEMBERED) spelled.set(name, other)
    }
    return other
  }

  return function rename(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(rename)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([name, member]) => {
      return [nameOf(name), OWN_KEYS.has(name) ? member : rename(member)] as const
    })
    return Object.fromEntries(members)
  }
}

/** @param name of the API */
export function camelName(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** @param name of the client */
export function snakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
