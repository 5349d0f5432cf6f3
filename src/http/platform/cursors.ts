import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidRequest, type Problem } from '../../errors.ts'

/** A kind of cursor: text that only we can make sense of, and that is judged like any input when it comes back. */
export interface Cursors<Held> {
  /** What is undefined is left out. */
  write(held: { [Name in keyof Held]: Held[Name] | undefined }): string
  /** @throws Problem `invalid_request` if it is not ours. */
  read(text: string): Held
}

export function cursorsOf<Schema extends TSchema>(schema: Schema): Cursors<Static<Schema>> {
  const check = Compile(schema)
  return {
    write: held => Buffer.from(JSON.stringify(held)).toString('base64url'),
    read(text) {
      const held = parseJson(Buffer.from(text, 'base64url').toString())
      if (!check.Check(held)) throw notOurs()
      return held as Static<Schema>
    },
  }
}

export function notOurs(): Problem {
  return invalidRequest([{ path: 'cursor', message: 'must be a next_cursor as this service gave it' }])
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
