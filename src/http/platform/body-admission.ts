/**
 * Bounds what large calls cost the others. Each takes milliseconds of the event loop to be read and checked: a crowd of
 * them at one instant would keep everybody waiting for seconds, even those who are only to be told 503.
 */
export interface BodyAdmission {
  /** Takes in a call of so many bytes, or answers false: too many are under way, and it is not counted. */
  enter(bytes: number): boolean
  /** The call has ended. */
  leave(bytes: number): void
  /**
   * Waits for a turn of the event loop that has room for so many bytes, in the order they came. Small calls share one; a
   * call larger than a turn has it alone.
   */
  turn(bytes: number): Promise<void>
}

export interface LargeCallsOptions {
  /** Bytes under way at most. A call that comes alone is taken in however large it is. */
  readonly bytes: number
  readonly bytesATurn: number
}

export function createBodyAdmission(most: LargeCallsOptions): BodyAdmission {
  let bytesUnderWay = 0
  const waiting: { readonly bytes: number; resolve(): void }[] = []

  function serve(): void {
    let room = most.bytesATurn
    for (let call = waiting[0]; call !== undefined && call.bytes <= room; call = waiting[0]) {
      room -= call.bytes
      waiting.shift()
      call.resolve()
    }
    if (waiting.length > 0) setImmediate(serve)
  }

  return {
    enter(bytes) {
      if (bytesUnderWay > 0 && bytesUnderWay + bytes > most.bytes) return false
      bytesUnderWay += bytes
      return true
    },
    leave(bytes) {
      bytesUnderWay -= bytes
    },
    turn(bytes) {
      return new Promise(resolve => {
        waiting.push({ bytes: Math.min(bytes, most.bytesATurn), resolve })
        if (waiting.length === 1) setImmediate(serve)
      })
    },
  }
}
