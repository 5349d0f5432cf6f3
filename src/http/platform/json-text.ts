/** JSON texts that do not come as the body of a call, which Fastify's parser checks: lines of an import, and cursors. */
import type { Issues } from './validation.ts'

/** What a name that leads to prototypes has; a name can be written with escapes. */
const SUSPECT = /__proto__|constructor|\\u/

/**
 * The value of a text. What Fastify refuses in bodies is refused here, too: `__proto__`, and `prototype` in `constructor`.
 * JavaScript may take the value behind such a name for the prototype of the object.
 */
export function readJson(text: string): { value: unknown } | { issues: Issues } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { issues: [{ path: '', message: 'must be one JSON object a line' }] }
  }
  const path = SUSPECT.test(text) ? prototypeIn(value) : undefined
  if (path !== undefined) return { issues: [{ path, message: 'is a name that is not accepted anywhere' }] }
  const twice = nameTwice(text, value)
  return twice === undefined ? { value } : { issues: [{ path: '', message: `has the name ${twice} twice` }] }
}

/** The strings of a text, and whether one is a name. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g

/** A name that an object of the text has twice: JavaScript would take the last value without a word. */
function nameTwice(text: string, root: unknown): string | undefined {
  const names = [...text.matchAll(STRINGS)].filter(([, colon]) => colon !== undefined)
  const kept: string[] = []
  const open: unknown[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) kept.push(...Object.keys(next))
    open.push(...Object.values(next))
  }
  if (names.length === kept.length) return undefined
  const counts = new Map<string, number>()
  for (const name of kept) counts.set(name, (counts.get(name) ?? 0) - 1)
  for (const [string] of names) {
    const name: string = JSON.parse(string.replace(/\s*:$/, ''))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const [twice] = [...counts].find(([, count]) => count > 0) ?? []
  return twice === undefined ? undefined : JSON.stringify(twice)
}

/** A JSON pointer to the first name that leads to a prototype. Not recursive: a line may be nested thousands of levels deep. */
function prototypeIn(root: unknown): string | undefined {
  const open: { path: string; value: unknown; name?: string }[] = [{ path: '', value: root }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value, name: outer } = next
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      const inner = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (name === '__proto__' || (name === 'prototype' && outer === 'constructor')) return inner
      open.push({ path: inner, value: member, name })
    }
  }
  return undefined
}
