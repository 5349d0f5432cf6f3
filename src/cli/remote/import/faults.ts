/** Reports the rows of a file that are refused: the first ones by kind on the terminal, all of them in a file. */
import { csvLine } from '../../../domain/basics/csv.ts'
import { createRowFaults } from '../../../domain/basics/row-faults.ts'
import type { ValidationIssue } from '../../../errors.ts'
import { safe } from '../../safe.ts'
import { openReport } from '../files.ts'

/** Kinds of faults that are printed. */
const MAX_KINDS = 20

export interface FaultReport {
  /** How many rows were refused. */
  readonly rows: number
  add(line: number, issues: readonly ValidationIssue[]): void
  /** Writes what was added to the file. */
  flush(): Promise<void>
  /** Prints the first faults of each kind. */
  print(complain: (line: string) => void): void
  close(): Promise<void>
}

/**
 * @param path of the file for all faults, as CSV
 * @param read the file that has the rows
 * @throws UsageError if it cannot be written
 */
export async function openFaultReport(path: string | undefined, read: string): Promise<FaultReport> {
  const file = path === undefined ? undefined : await openReport({ path, option: '--errors', read }, 'w')
  const faults = createRowFaults()
  let pending = csvLine(['line', 'column', 'message'])
  let rows = 0
  return {
    get rows() {
      return rows
    },
    add(line, issues) {
      rows += 1
      for (const { path: at, message } of issues) {
        const [, column = ''] = at.split('/')
        const shown = at === '' ? message : `${nameOf(at)} ${message}`
        faults.add(line, column, message, safe(`line ${line}: ${shown}`))
        if (file !== undefined) pending += csvLine([line, nameOf(at), message])
      }
    },
    async flush() {
      const text = pending
      pending = ''
      if (text !== '') await file?.writeFile(text)
    },
    print(complain) {
      const { lines, isWhole } = faults.shown(MAX_KINDS)
      for (const line of lines) complain(line)
      if (!isWhole && file === undefined) complain('--errors FILE lists all')
    },
    close: async () => file?.close(),
  }
}

/** How messages name the place in a row: a field, or one of its values. */
const nameOf = (path: string) => path.slice(1).replaceAll('/', '.')
