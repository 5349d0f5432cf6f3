/** What a call needs to know of an operation. */
export interface Route {
  readonly method: string
  /** With the names of its parameters in braces. */
  readonly path: string
  /** The names of the parameters that belong into the query. */
  readonly query?: readonly string[]
  readonly hasBody?: boolean
  /** Whether it takes a header Idempotency-Key, and so can be repeated. */
  readonly takesKey?: boolean
  /** Whether it answers lines of JSON. */
  readonly isLines?: boolean
  /** By which its answer is known: the JSON type of a member, or of the whole. Left out for lines, and for no content. */
  readonly answers?: { readonly member?: string; readonly type: string }
}

/** The operations that a batch can hold. */
export const SENDER_OPERATIONS = ['check', 'reserve', 'consume', 'commit', 'release', 'refund', 'feedback'] as const

export type SenderOperation = (typeof SENDER_OPERATIONS)[number]
