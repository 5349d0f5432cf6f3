/** JSON as a fuzz sends it: values, and texts that no value has. */

/** JSON as it is written: a number that overflows, a name twice, a hundred thousand brackets. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Json = null | boolean | number | string | Raw | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw)
}

export function textOf(value: Json): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`)
    .join(',')}}`
}

/** An object with these members, also one named `__proto__`. */
export function objectOf(members: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries(members)
}

/** Where a value is in another: the names and places that lead there. */
export type Path = readonly (string | number)[]

/** The paths of all values in a value, its own first; of long lists and objects, those of the first ones. */
export function pathsIn(value: Json, path: Path = []): Path[] {
  if (Array.isArray(value)) {
    return [path, ...value.slice(0, 20).flatMap((item, place) => pathsIn(item, [...path, place]))]
  }
  if (!isObject(value)) return [path]
  const members = Object.entries(value).slice(0, 40)
  return [path, ...members.flatMap(([name, member]) => pathsIn(member, [...path, name]))]
}

export function valueAt(value: Json, [step, ...rest]: Path): Json {
  if (step === undefined) return value
  const inside = Array.isArray(value) ? value[Number(step)] : isObject(value) ? value[step] : undefined
  if (inside === undefined) throw new Error(`there is no ${step}`)
  return valueAt(inside, rest)
}

/** A copy in which the value at `path` is another one; without it if that is undefined. */
export function replaceAt(value: Json, [step, ...rest]: Path, by: Json | undefined): Json | undefined {
  if (step === undefined) return by
  if (Array.isArray(value)) {
    return value.flatMap((item, place) => {
      if (place !== step) return [item]
      const inside = replaceAt(item, rest, by)
      return inside === undefined ? [] : [inside]
    })
  }
  if (!isObject(value)) throw new Error(`there is no ${step}`)
  return objectOf(
    Object.entries(value).flatMap(([name, member]) => {
      if (name !== step) return [[name, member] as const]
      const inside = replaceAt(member, rest, by)
      return inside === undefined ? [] : [[name, inside] as const]
    }),
  )
}
