import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { formatTimestamp, LATEST } from '../../domain/time/time.ts'
import { invalidRequest, type Problem, type ValidationIssue } from '../../errors.ts'
import { readJson } from './json-text.ts'

/** A kind of cursor: opaque text for clients, validated like any input when it comes back. */
export interface Cursors<Content> {
  /** Leaves out what is undefined. */
  write(content: { [Name in keyof Content]: Content[Name] | undefined }): string
  /** @throws Problem `invalid_request` if this service did not write it */
  read(text: string): Content
}

export function cursorsOf<Schema extends TSchema>(schema: Schema): Cursors<Static<Schema>> {
  return cursorsFor<Static<Schema>>(schema)
}

/** Of a schema that is put together when the service starts, whose type the compiler does not know. */
export function cursorsFor<Content>(schema: TSchema): Cursors<Content> {
  const validator = Compile(schema)
  const isContent = (value: unknown): value is Content => validator.Check(value)
  return {
    write: content => Buffer.from(JSON.stringify(content)).toString('base64url'),
    read(text) {
      const read = readJson(Buffer.from(text, 'base64url').toString())
      if ('issues' in read || !isContent(read.value)) throw invalidCursor()
      return read.value
    },
  }
}

export function invalidCursor(): Problem {
  return invalidRequest([{ path: 'cursor', message: 'must be the next_cursor of an earlier response' }])
}

/** Parts of cursors: an id or another whole number, and a time. */
export const cursorInteger = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })
export const cursorTime = Type.Integer({ minimum: 0, maximum: LATEST })

/** Filters that a cursor holds as milliseconds and a client names as text. */
const TIMES: ReadonlySet<string> = new Set(['from', 'to', 'expires_after', 'expires_before'])

/** A cursor fixes the filters, so parameters may only repeat them: an issue for each of `names` that differs. */
export function issuesWithCursor<Name extends string>(
  names: readonly Name[],
  asked: { readonly [name in Name]?: unknown },
  cursor: { readonly [name in Name]?: unknown },
): ValidationIssue[] {
  return names
    .filter(name => asked[name] !== undefined && asked[name] !== cursor[name])
    .map(name => ({ path: name, message: `is fixed by the cursor to ${shown(name, cursor[name])}` }))
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return 'no value'
  return TIMES.has(name) ? formatTimestamp(Number(value)) : String(value)
}
