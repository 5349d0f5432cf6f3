/**
 * Limits how much large bodies delay other calls. Parsing and validating one takes milliseconds of the event loop, so a
 * burst of them would block all clients for seconds, including those that only get a 503.
 */
export interface BodyAdmission {
  /** Whether a call of the principal with a body of this many bytes would be admitted now. */
  hasRoom(principal: string, bytes: number): boolean
  /**
   * Admits a call with a body of this many bytes. Returns false, and counts nothing, if too many are in progress. A principal
   * may have as many in progress as there is room left, so that one does not take the room of all.
   */
  tryAcquire(principal: string, bytes: number): boolean
  /** Ends an admitted call. `bytes` is the number that it was admitted with. */
  release(principal: string, bytes: number): void
  /**
   * Waits for a tick of the event loop with room for this many bytes, in the order of the calls. Small bodies share a
   * tick; a body larger than a tick has one of its own.
   */
  nextTick(bytes: number): Promise<void>
}

export interface BodyAdmissionOptions {
  /** The maximum number of bytes in progress. A single call is admitted at any size. */
  readonly maxBytes: number
  readonly bytesPerTick: number
}

export function createBodyAdmission({ maxBytes, bytesPerTick }: BodyAdmissionOptions): BodyAdmission {
  let bytesInProgress = 0
  /** Of the principals that have any: at most as many as there are calls in progress. */
  const bytesOf = new Map<string, number>()
  const waiting: { readonly bytes: number; resolve(): void }[] = []

  function runTick(): void {
    let room = bytesPerTick
    for (let call = waiting[0]; call !== undefined && call.bytes <= room; call = waiting[0]) {
      room -= call.bytes
      waiting.shift()
      call.resolve()
    }
    if (waiting.length > 0) setImmediate(runTick)
  }

  const hasRoom = (principal: string, bytes: number): boolean =>
    bytesInProgress === 0 || (bytesOf.get(principal) ?? 0) + bytes <= maxBytes - bytesInProgress

  function add(principal: string, bytes: number): void {
    bytesInProgress += bytes
    const own = (bytesOf.get(principal) ?? 0) + bytes
    if (own === 0) bytesOf.delete(principal)
    else bytesOf.set(principal, own)
  }

  return {
    hasRoom,
    tryAcquire(principal, bytes) {
      if (!hasRoom(principal, bytes)) return false
      add(principal, bytes)
      return true
    },
    release(principal, bytes) {
      add(principal, -bytes)
    },
    nextTick(bytes) {
      return new Promise(resolve => {
        waiting.push({ bytes: Math.min(bytes, bytesPerTick), resolve })
        if (waiting.length === 1) setImmediate(runTick)
      })
    },
  }
}
