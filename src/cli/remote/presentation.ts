/** What a command over the API does with the answers of its operation. */
import type { Client } from '../../../client/src/main.ts'
import type { Arguments, Options } from '../arguments.ts'
import type { Terminal } from '../terminal.ts'
import type { Request } from './fields.ts'

/** A command that was typed, ready to call the service. */
export interface Call {
  args: Arguments
  terminal: Terminal
  client: Client
  request: Request
  /** Calls the operation with the request and further fields. */
  ask(more?: Request, signal?: AbortSignal): Promise<unknown>
  /** Writes a value as a line of JSON. */
  printJson(value: unknown): Promise<void>
}

/** The form in which the answers of an operation are read and shown. */
export interface Presentation {
  /** Options that are not fields of the request. */
  options?: Options
  /** Fields of the request that it sets itself. */
  hides?: readonly string[]
  /** @returns the exit code. */
  run(call: Call): Promise<number>
}
