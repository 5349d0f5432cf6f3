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
  return path === undefined ? { value } : { issues: [{ path, message: 'is a name that is not accepted anywhere' }] }
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
