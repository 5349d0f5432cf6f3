/** Reads a provider's bill: files of CSV, line by line. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminReservationsQuery } from '../../../contract/reservations.ts'
import { MAX_RESERVED_UNITS, MAX_SEGMENTS } from '../../../domain/basics/bounds.ts'
import { isLost, readCell } from '../../../domain/basics/csv.ts'
import { createRowFaults } from '../../../domain/basics/row-faults.ts'
import { type Arguments, type Options, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import { placesIn } from '../columns.ts'
import { SCALE_OPTION, scaleIn, unitsIn } from '../decimals.ts'
import { fieldsOf } from '../fields.ts'
import { csvRowsIn, ENCODING_OPTION, encodingIn } from '../files.ts'
import { type BillTable, createBillTable, NONE } from './bill-table.ts'
import type { Billed } from './compare.ts'

/** The period of the bill. */
export const PERIOD = fieldsOf([AdminReservationsQuery]).filter(({ option }) => option === 'from' || option === 'to')

const COLUMNS = ['id', 'user', 'segments', 'units', 'price', 'status'] as const
type Column = (typeof COLUMNS)[number]

const column = (means: string) => ({ value: 'COLUMN', means })
export const BILL_OPTIONS: Options = {
  id: column('the column of ids that senders gave the provider; default id'),
  user: column('the column of users, by id or by ref: and the reference; needed if ids of users can be alike'),
  segments: column('the column of segments'),
  units: column('the column of units'),
  price: column('the column of prices; a minus before all of them does not count'),
  ...SCALE_OPTION,
  status: column('the column that says what became of a message'),
  failed: { value: 'LIST', means: 'what --status says of messages that are not paid, separated by commas' },
  parts: { means: 'each line is a part of a message: lines of one id add up' },
  ...ENCODING_OPTION,
}

export interface BillFormat {
  named: Partial<Record<Column, string>>
  scale: number
  failed: ReadonlySet<string>
  isOfParts: boolean
  encoding: string | undefined
}

/** @throws UsageError */
export function formatIn(args: Arguments): BillFormat {
  const named = Object.fromEntries(COLUMNS.filter(name => args.has(name)).map(name => [name, args.one(name)]))
  if ('units' in named && 'price' in named) throw new UsageError('give --units or --price, not both')
  const failed = args.one('failed')?.toLowerCase().split(',') ?? []
  if ('status' in named !== failed.length > 0) throw new UsageError('--status and --failed need each other')
  return {
    named,
    scale: scaleIn(args),
    failed: new Set(failed.map(text => text.trim())),
    isOfParts: args.has('parts'),
    encoding: encodingIn(args),
  }
}

/** A line of the bill. */
export interface BillLine extends Billed {
  file: number
  line: number
  id: string
  user: string
  /** The columns with what is wrong with their cells. */
  issues: { column: string; message: string }[]
}

/** The files of the words, with those of folders. @throws UsageError */
export async function billFiles(words: readonly string[]): Promise<string[]> {
  const files = await Promise.all(
    words.map(async path => {
      const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true
      if (!isFolder) return [path]
      const entries = await readdir(path, { withFileTypes: true })
      const own = entries
        .filter(entry => entry.isFile() && !entry.name.startsWith('.'))
        .map(({ name }) => join(path, name))
      if (own.length === 0) throw new UsageError(`${path} has no files`)
      return own.toSorted()
    }),
  )
  return files.flat()
}

/** @throws UsageError if a file cannot be read, or lacks a column */
export async function* billLines(files: readonly string[], format: BillFormat): AsyncGenerator<BillLine, void> {
  const { named, encoding } = format
  const lineOf = lineReader(format)
  for (const [file, path] of files.entries()) {
    let places: Partial<Record<Column, number>> | undefined
    for await (const rows of csvRowsIn(path, encoding))
      for (const row of rows) {
        if (places === undefined) {
          places = placesIn<Column>(row, path, { id: 'id', ...named }, named, ['id'])
          continue
        }
        const at = places
        const cell = (name: Column) => {
          const place = at[name]
          return place === undefined
            ? null
            : String(readCell({ type: 'string', format: 'word' }, row.cells[place] ?? ''))
        }
        yield { file, line: row.line, ...lineOf(cell) }
      }
    if (places === undefined) throw new UsageError(`${path} is empty`)
  }
}

function lineReader({ named, scale, failed, isOfParts }: BillFormat) {
  let sign: string | undefined
  return (cell: (name: Column) => string | null) => {
    const issues: BillLine['issues'] = []
    const number = (name: Column, text: string, by: number, max: number) => {
      const read = unitsIn(text, by, max)
      if ('units' in read) return read.units
      issues.push({ column: named[name] ?? name, message: read.issue })
      return null
    }
    const id = cell('id') ?? ''
    if (isLost(id))
      issues.push({
        column: named.id ?? 'id',
        message: `must be an id, not ${JSON.stringify(id)}, which a spreadsheet shows in its place`,
      })
    const isFailed = failed.has((cell('status') ?? '').toLowerCase())
    const [segments, units, price] = (['segments', 'units', 'price'] as const).map(name =>
      isFailed ? null : cell(name),
    )
    const own = price?.startsWith('-') === true ? '-' : '+'
    if (price != null && /[1-9]/.test(price)) {
      sign ??= own
      if (sign !== own)
        issues.push({
          column: named.price ?? '',
          message: 'has another sign than the prices before: leave out what was credited',
        })
    }
    const amount = price == null ? null : number('price', price.replace(/^[-+]/, ''), scale, MAX_RESERVED_UNITS)
    return {
      ...{ id, user: cell('user') ?? '', isFailed, issues },
      segments:
        segments == null
          ? isOfParts && !isFailed && named.segments === undefined
            ? 1
            : null
          : number('segments', segments, 1, MAX_SEGMENTS),
      units: units == null ? amount : number('units', units, 1, MAX_RESERVED_UNITS),
    }
  }
}

/* ── The whole bill ─────────────────────────────────────────────────────────────────────────────────────────────── */

export interface Bill {
  table: BillTable
  /** Lines that name no message. */
  nameless: number
}

/** Faults that are shown, by kind. */
const MAX_KINDS = 10

export const keyOf = (id: string, user: string) => `${id}\0${user}`

/** @throws UsageError with all that is wrong */
export async function readBill(
  files: readonly string[],
  format: BillFormat,
  progress: ((text: string) => void) | undefined,
): Promise<Bill> {
  const table = createBillTable()
  const faults = createRowFaults()
  let [bad, nameless, lines] = [0, 0, 0]
  const refuse = ({ file, line }: BillLine, column: string, message: string) => {
    bad += 1
    faults.add(line, column, message, safe(`${files[file]}: line ${line}: ${column} ${message}`))
  }
  for await (const billed of billLines(files, format)) {
    lines += 1
    if (lines % 1_000 === 0) progress?.(`${lines.toLocaleString('en')} lines read`)
    for (const { column, message } of billed.issues) refuse(billed, column, message)
    const { file, line, id, isFailed, segments, units } = billed
    if (id === '') nameless += 1
    if (billed.issues.length > 0 || id === '') continue
    const key = keyOf(id, billed.user)
    const known = table.find(key)
    if (known === undefined) {
      const fields = { file, line, isFailed: Number(isFailed), segments: segments ?? NONE, units: units ?? NONE }
      table.set(table.add(key), fields)
      continue
    }
    const first = `${files[table.get(known, 'file')]} line ${table.get(known, 'line')}`
    const shown = JSON.stringify(`${id} as ${first}`)
    const name = format.named.id ?? 'id'
    if (!format.isOfParts)
      refuse(billed, name, `is in two lines: if each is a part of the message, give --parts, not ${shown}`)
    else if (!addPart(table, known, billed)) refuse(billed, name, `has too many segments or units in all, not ${shown}`)
  }
  if (bad > 0)
    throw new UsageError(
      ['the bill cannot be used, and nothing was done:', ...faults.shown(MAX_KINDS).lines].join('\n  '),
    )
  return { table, nameless }
}

/** Parts that failed are not paid. A message failed if all of them did. @returns whether the sum is one that a message can have */
function addPart(table: BillTable, message: number, { isFailed, segments, units }: BillLine): boolean {
  if (isFailed) return true
  const sum = (field: 'segments' | 'units', more: number | null) => {
    const before = table.get(message, field)
    return more === null ? before : (before === NONE ? 0 : before) + more
  }
  const sums = { segments: sum('segments', segments), units: sum('units', units) }
  const fits = (value: number, max: number) => value === NONE || value <= max
  if (!fits(sums.segments, MAX_SEGMENTS) || !fits(sums.units, MAX_RESERVED_UNITS)) return false
  table.set(message, { isFailed: 0, ...sums })
  return true
}
