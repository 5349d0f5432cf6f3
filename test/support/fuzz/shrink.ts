/** Makes a call smaller as long as it shows the same fault. */
import type { Body, Call } from './calls.ts'
import { bytesOf } from './calls.ts'
import { isObject, type Json, objectOf, pathsIn, Raw, replaceAt, valueAt } from './json.ts'

/** How many smaller calls are tried. */
const MAX_TRIES = 300

export async function shrink(call: Call, isFaulty: (smaller: Call) => Promise<boolean>): Promise<Call> {
  let smallest = call
  let tries = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of smallerCalls(smallest)) {
      tries += 1
      if (tries > MAX_TRIES) return smallest
      if (!(await isFaulty(candidate))) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
}

function* smallerCalls(call: Call): Generator<Call> {
  for (const headers of smallerLists(call.headers)) yield { ...call, headers }
  for (const query of smallerLists(call.query)) yield { ...call, query }
  if (call.body === undefined) return
  for (const body of smallerBodies(call.body)) yield { ...call, body }
}

function* smallerBodies(body: Body): Generator<Body> {
  if (body.kind === 'bytes') {
    const bytes = bytesOf(body)
    const half = bytes.length >> 1
    if (half > 0)
      for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) yield { kind: 'bytes', bytes: part }
  } else if (body.kind === 'value') {
    for (const value of smallerValues(body.value)) yield { kind: 'value', value }
  } else {
    for (const values of smallerLists(body.values)) yield { kind: 'lines', values: [...values] }
    const [only, ...others] = body.values
    if (only === undefined || others.length > 0) return
    for (const value of smallerValues(only)) yield { kind: 'lines', values: [value] }
  }
}

/** Without a half, then a quarter, and so on down to one. */
function* smallerLists<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let size = list.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // Of a long list, single values are not tried one by one: each try is a call.
    if (size === 1 && list.length > 40) {
      yield list.slice(1)
      yield list.slice(0, -1)
      return
    }
    for (let from = 0; from < list.length; from += size) yield [...list.slice(0, from), ...list.slice(from + size)]
  }
}

function* smallerValues(value: Json): Generator<Json> {
  for (const path of pathsIn(value)) {
    for (const smaller of smallerAt(valueAt(value, path))) {
      const whole = replaceAt(value, path, smaller)
      if (whole !== undefined) yield whole
    }
  }
}

function* smallerAt(value: Json): Generator<Json> {
  if (Array.isArray(value)) for (const items of smallerLists(value)) yield [...items]
  else if (isObject(value)) for (const members of smallerLists(Object.entries(value))) yield objectOf(members)
  else if (typeof value === 'string' && value.length > 1) {
    yield value.slice(0, value.length >> 1)
    yield value.slice(value.length >> 1)
    yield value.slice(1)
  } else if (value instanceof Raw) yield 1
}
