/** Reports the rows of a file that are refused: the first ones by kind on the terminal, all of them in a file. */
import { type FileHandle, open } from 'node:fs/promises'
import { csvLine } from '../../../domain/csv.ts'
import { createRowFaults } from '../../../domain/row-faults.ts'
import type { ValidationIssue } from '../../../errors.ts'
import { UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'

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

/** @param path of the file for all faults, as CSV. @throws UsageError if it cannot be written */
export async function openFaultReport(path: string | undefined): Promise<FaultReport> {
  const file = path === undefined ? undefined : await openFile(path)
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

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--errors: ${path} cannot be written (${code})`)
  }
}

/** How messages name the place in a row: a field, or one of its values. */
const nameOf = (path: string) => path.slice(1).replaceAll('/', '.')
