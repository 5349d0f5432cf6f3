/** Lists: pages are read until the rows that were asked for are shown. */
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { type Arguments, type Options, UsageError } from '../arguments.ts'
import type { Call, Presentation } from './presentation.ts'
import { type Column, neededColumns, tableOf } from './tables.ts'

const DEFAULT_ROWS = 20

export const ROW_OPTIONS: Options = {
  limit: { value: 'ROWS', means: `how many rows to show; default ${DEFAULT_ROWS}` },
  all: { means: 'show all rows' },
}
const AFTER: Options = {
  after: { value: 'CURSOR', dashed: true, means: 'go on where a list ended, with the same filters' },
}

/** How many rows to show, at most. @throws UsageError */
export function readRows(args: Arguments, byDefault = DEFAULT_ROWS): number {
  const text = args.one('limit')
  if (args.has('all')) {
    if (text !== undefined) throw new UsageError('give --limit or --all, not both')
    return Number.POSITIVE_INFINITY
  }
  if (text === undefined) return byDefault
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`--limit is a number of rows from 1 to 999999999, or give --all, not "${text}"`)
}

interface Page {
  items: readonly object[]
  next_cursor: string | null
}

/** A list that is read by cursor. */
export function list<Row extends object>(columns: readonly Column<Row>[]): Presentation {
  return {
    options: { ...ROW_OPTIONS, ...AFTER },
    hides: ['page', 'page_size', 'cursor'],
    async run(call) {
      const { args, terminal, ask } = call
      let left = readRows(args)
      let cursor = args.one('after')
      let shown: readonly Column<Row>[] = []
      do {
        const position = cursor === undefined ? {} : { cursor }
        const page = (await ask({ ...position, page_size: Math.min(left, MAX_PAGE_SIZE) })) as Page
        const rows = page.items as readonly Row[]
        if (rows.length > 0) {
          const needed = neededColumns(columns, rows, shown)
          // A page may be the first one with a name: then the titles change.
          await showRows(call, rows, needed, needed.length > shown.length)
          shown = needed
        }
        left -= page.items.length
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined && left > 0)
      if (shown.length === 0 && !args.has('json')) terminal.complain('There are no rows.')
      if (cursor !== undefined) terminal.complain(`more: --after=${cursor}, or --all`)
      return 0
    },
  }
}

/** @param hasTitles whether titles come before the rows */
export async function showRows<Row extends object>(
  { args, terminal, printJson }: Call,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  hasTitles: boolean,
): Promise<void> {
  if (args.has('json')) for (const row of rows) await printJson(row)
  else if (rows.length > 0) await terminal.print(tableOf(rows, columns, terminal, { titles: hasTitles }))
}
