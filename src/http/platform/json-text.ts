/** JSON texts: bodies, lines of an import, and cursors. */
import { invalidRequest, Problem } from '../../errors.ts'
import type { Issues } from './validation.ts'

/** Names in one object, at most. The largest of the API has 36. To parse 90,000 takes 163 ms, and nothing else runs meanwhile. */
const MAX_NAMES = 200

/** Names in a text, at most: those of 1,000 operations with all fields. Of 4,800 objects with 20 names each that are all different, parsing takes 60 to 120 ms. */
const MAX_ALL_NAMES = 25_000

/** Objects and lists in one another, at most. */
const MAX_DEPTH = 16

/** The issue of a text that is no JSON. */
const MALFORMED: Issues = [{ path: '', message: 'must be one JSON object a line' }]

/**
 * The value of a text. Names are bounded before it is parsed. A name that an object has twice is refused, because JavaScript would take the
 * last value without a word, and `__proto__`, because JavaScript may take its value for the prototype of the object.
 *
 * @param bytes of the text
 * @param maxNames of all its objects together
 */
export function readJson(
  text: string,
  bytes: Uint8Array = Buffer.from(text),
  maxNames = MAX_ALL_NAMES,
): { value: unknown } | { issues: Issues } {
  try {
    const names = namesIn(bytes, maxNames)
    if (typeof names !== 'number') return names
    const value: unknown = JSON.parse(text)
    if (names !== ESCAPED && distinctNamesIn(value) === names) return { value }
    const refused = namesIn(bytes, maxNames, [])
    return typeof refused === 'number' ? { value } : refused
  } catch (error) {
    if (error instanceof SyntaxError) return { issues: MALFORMED }
    throw error
  }
}

/** The value of a body, or the problem that refuses it. */
export function readBody(
  text: string,
  bytes?: Uint8Array,
  maxNames?: number,
): { value: unknown } | { refusal: Problem } {
  if (text === '') return { refusal: new Problem('invalid_request', 'The body is empty; a JSON object is required.') }
  const read = readJson(text, bytes, maxNames)
  if ('value' in read) return read
  const { issues } = read
  return {
    refusal:
      issues === MALFORMED ? new Problem('invalid_request', 'The body is not valid JSON.') : invalidRequest(issues),
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
/** Of braces and brackets; the bit 0x20 tells them apart. */
const [OPEN, CLOSE, EITHER] = [0x7b, 0x7d, 0x20]

/** From here on, a search in native code is faster than a loop. */
const NEAR_BYTES = 48

/** In place of a number: a name is written with escapes. V8 13.6 may read it as another one that it has read before, so names of its value say nothing. */
const ESCAPED = -1
/** Where the last string begins that may have escapes. */
let lastEscaped = -1

/** By depth: how many names an object has, or the place in a list; and where the last name begins: -1 in a list. One text is read at a time. */
const counts = new Int32Array(MAX_DEPTH + 1)
const lastNames = new Int32Array(MAX_DEPTH + 1)

/**
 * The number of all names, or what is refused of them. What is no JSON may get any answer that is not an exception of another kind.
 *
 * @param seen only then, what an object has twice is refused: the names of each depth
 * @throws SyntaxError if what is refused stands behind a name that is none
 */
function namesIn(bytes: Uint8Array, maxNames: number, seen?: Set<string>[]): number | { issues: Issues } {
  let depth = 0
  let all = 0
  let lastString = 0
  let isEscaped = false
  lastEscaped = -1
  counts[0] = 0
  lastNames[0] = -1
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) {
      lastString = at
      at = endOfString(bytes, at)
    } else if (byte === COLON) {
      lastNames[depth] = lastString
      all += 1
      const count = (counts[depth] ?? 0) + 1
      counts[depth] = count
      if (count > MAX_NAMES) return refused(bytes, depth - 1, `has more than ${MAX_NAMES} names`)
      if (all > maxNames) return refused(bytes, -1, `has more than ${maxNames.toLocaleString('en')} names`)
      if (lastEscaped === lastString) isEscaped = true
      if (seen === undefined) continue
      const name = stringAt(bytes, lastString)
      if (name === '__proto__') return refused(bytes, depth, 'is a name that is not accepted anywhere')
      if (seen[depth]?.has(name)) return refused(bytes, depth, 'is there twice')
      seen[depth]?.add(name)
    } else if ((byte | EITHER) === OPEN) {
      if (depth === MAX_DEPTH) return refused(bytes, depth, `is nested deeper than ${MAX_DEPTH} levels`)
      depth += 1
      counts[depth] = 0
      lastNames[depth] = -1
      if (seen !== undefined) seen[depth] = new Set()
    } else if ((byte | EITHER) === CLOSE) {
      if (depth > 0) depth -= 1
    } else if (byte === COMMA && (lastNames[depth] ?? 0) < 0) {
      counts[depth] = (counts[depth] ?? 0) + 1
    }
  }
  return isEscaped ? ESCAPED : all
}

/** Where a string ends: the place of its second quote, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; ; at += 1) {
    for (const near = Math.min(at + NEAR_BYTES, bytes.length); at < near; at += 1) {
      const byte = bytes[at]
      if (byte === QUOTE) return at
      if (byte !== BACKSLASH) continue
      lastEscaped = start
      at += 1
    }
    lastEscaped = start
    at = bytes.indexOf(QUOTE, at)
    if (at < 0) return bytes.length
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
}

const decoder = new TextDecoder()

function stringAt(bytes: Uint8Array, start: number): string {
  return JSON.parse(decoder.decode(bytes.subarray(start, endOfString(bytes, start) + 1)))
}

/** @param depth of the value: its path is made of the names and places up to there */
function refused(bytes: Uint8Array, depth: number, message: string): { issues: Issues } {
  let path = ''
  for (let level = 1; level <= depth; level += 1) {
    const name = lastNames[level] ?? -1
    const step = name < 0 ? String(counts[level]) : stringAt(bytes, name).slice(0, 64)
    path += `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
  }
  return { issues: [{ path, message }] }
}

/** How many names the objects of a value have, without `__proto__`. */
function distinctNamesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') names += distinctNamesIn(item)
    return names
  }
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    if (typeof inner === 'object') names += distinctNamesIn(inner)
    if (name !== '__proto__') names += 1
  }
  return names
}
