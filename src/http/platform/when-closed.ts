/** A response, as far as its end is looked at. */
export interface Closing {
  readonly closed: boolean
  once(event: 'close', then: () => void): unknown
}

/**
 * Calls `then` when a response has ended or its connection is closed. That may have been already: while a call waits for what it reads first,
 * its caller goes away, and `close` comes once.
 */
export function whenClosed(response: Closing, then: () => void): void {
  if (response.closed) then()
  else response.once('close', then)
}
