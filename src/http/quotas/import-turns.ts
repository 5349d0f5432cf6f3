/** Lets the imports of a process take turns, and bounds how much a step of one delays senders. */
export interface ImportTurns {
  /** How many rows the next step may have. */
  readonly rows: number
  /** Begins an import; false if too many have begun already. */
  tryBegin(): boolean
  end(): void
  /** Runs a step of so many rows when no other runs. */
  run<Result>(rows: number, step: () => Promise<Result>): Promise<Result>
}

export interface ImportTurnsOptions {
  /** The maximum number of imports that have begun. Each holds a step in memory. */
  maxImports: number
  /** The fewest and the most rows of a step. Below the fewest, what a commit costs by itself would outweigh them. */
  minRows: number
  maxRows: number
  /** How long a step should take, in milliseconds: as long it keeps users' rows and the ends of outboxes locked. */
  targetMs: number
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/**
 * One step runs at a time, however many imports there are. A slow client takes no turn while its rows arrive. A step that
 * takes longer than `targetMs`, because the database is busy with senders, makes the next one smaller.
 */
export function createImportTurns(options: ImportTurnsOptions): ImportTurns {
  const { maxImports, minRows, maxRows, targetMs, now = () => performance.now() } = options
  let imports = 0
  let perStep = maxRows
  let last: Promise<unknown> = Promise.resolve()

  async function timed<Result>(rows: number, step: () => Promise<Result>): Promise<Result> {
    const startedAt = now()
    try {
      return await step()
    } finally {
      const inTime = (rows * targetMs) / Math.max(1, now() - startedAt)
      perStep = Math.round(Math.max(minRows, perStep / 2, Math.min(maxRows, perStep * 2, inTime)))
    }
  }

  return {
    get rows() {
      return perStep
    },
    tryBegin() {
      if (imports >= maxImports) return false
      imports += 1
      return true
    },
    end() {
      imports -= 1
    },
    run(rows, step) {
      const result = last.then(() => timed(rows, step))
      last = result.catch(() => {})
      return result
    },
  }
}
