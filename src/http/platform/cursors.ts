import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidRequest, type Problem } from '../../errors.ts'

/** A kind of cursor: opaque text for clients, validated like any input when it comes back. */
export interface Cursors<Content> {
  /** Leaves out what is undefined. */
  write(content: { [Name in keyof Content]: Content[Name] | undefined }): string
  /** @throws Problem `invalid_request` if this service did not write it */
  read(text: string): Content
}

export function cursorsOf<Schema extends TSchema>(schema: Schema): Cursors<Static<Schema>> {
  const validator = Compile(schema)
  return {
    write: content => Buffer.from(JSON.stringify(content)).toString('base64url'),
    read(text) {
      const content = parseJson(Buffer.from(text, 'base64url').toString())
      if (!validator.Check(content)) throw invalidCursor()
      return content
    },
  }
}

export function invalidCursor(): Problem {
  return invalidRequest([{ path: 'cursor', message: 'must be the next_cursor of an earlier response' }])
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
