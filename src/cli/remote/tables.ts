/** Tables and records as text: columns aligned, cut to the terminal's width, times in its time zone. */
import { styleText } from 'node:util'
import { DENIAL_REASONS } from '../../domain/units/reservation.ts'
import { safe } from '../safe.ts'
import type { Terminal } from '../terminal.ts'
import { exceptionsText } from './countries.ts'

/** A column of a table of rows. */
export interface Column<Row> {
  title: string
  value(row: Row): unknown
  /** Shown for null. A value that is undefined is shown as "-". */
  none?: string
  /** For tables whose later rows are not known yet. */
  minWidth?: number
  /** Whether it is shown only if a row has a value. */
  isOptional?: true
}

/** Columns that show fields as they are, by their names. */
export function columns<Row extends object>(
  ...fields: readonly ((keyof Row & string) | Column<Row>)[]
): readonly Column<Row>[] {
  return fields.map(field => (typeof field === 'string' ? { title: field, value: row => row[field] } : field))
}

/** A field of which null has a meaning of its own. */
export const withNone = <Row extends object>(field: keyof Row & string, none: string): Column<Row> => ({
  title: field,
  value: row => row[field],
  none,
})

/** The user of a row as people know them, beside the id: by name, or by the reference of another system. */
export const USER: Column<{ user_name?: string | null; user_ref?: string | null }> = {
  title: 'user',
  value: row => row.user_name ?? row.user_ref,
  isOptional: true,
}

/** The columns that rows need. @param before those of earlier rows of the table */
export function neededColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  before: readonly Column<Row>[] = [],
): readonly Column<Row>[] {
  return columns.filter(column => {
    const isNeeded = column.isOptional !== true || before.includes(column)
    return isNeeded || rows.some(row => column.value(row) != null)
  })
}

type View = Pick<Terminal, 'columns' | 'hasColors' | 'timeZone'>

const GAP = '  '
/** Columns of text are made narrower down to this, which still shows a time. */
const MIN_TEXT_WIDTH = 24

type Color = 'green' | 'yellow' | 'red' | 'bold'

/** The colors of states that call for attention, or that need none. */
const COLORS: ReadonlyMap<string, Color> = new Map([
  ...colored('green', ['active', 'granted', 'draws']),
  ...colored('yellow', ['suspended', 'scheduled']),
  ...colored('red', ['expired', 'exhausted', 'blocks', 'deleted', 'denied', ...DENIAL_REASONS]),
])

function colored(color: Color, states: readonly string[]): [string, Color][] {
  return states.map(state => [state, color])
}

/** @returns lines, the titles first unless they are left out. */
export function tableOf<Row>(
  rows: readonly Row[],
  shown: readonly Column<Row>[],
  view: View,
  { titles = true }: { titles?: boolean } = {},
): string {
  const values = rows.map(row => shown.map(column => column.value(row)))
  const cells = values.map(row =>
    row.map((value, index) => textOf(value, shown[index]?.title ?? '', view, shown[index])),
  )
  const isRight = shown.map((_, index) => {
    const present = values.map(row => row[index]).filter(value => value !== null && value !== undefined)
    return present.length > 0 && present.every(value => typeof value === 'number')
  })
  const wanted = shown.map(({ title, minWidth = 0 }, index) =>
    Math.max(minWidth, widthOf(title), ...cells.map(row => widthOf(row[index] ?? ''))),
  )
  const widths = fitWidths(wanted, isRight, view.columns)
  const line = (row: readonly string[], color: (cell: string) => Color | undefined) =>
    lineOf(row, widths, isRight, { ...view, color })
  const head = titles
    ? [
        line(
          shown.map(({ title }) => title),
          () => 'bold',
        ),
      ]
    : []
  return [...head, ...cells.map(row => line(row, cell => COLORS.get(cell)))].map(text => `${text}\n`).join('')
}

/** Takes from the widest columns of text what does not fit, as far as they can give. */
function fitWidths(wanted: readonly number[], isRight: readonly boolean[], available: number | null): number[] {
  const widths = [...wanted]
  if (available === null) return widths
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))
  for (let excess = total() - available; excess > 0; excess = total() - available) {
    const widest = Math.max(...widths.filter((_, index) => isRight[index] === false))
    if (widest <= MIN_TEXT_WIDTH) break
    const index = widths.findIndex((width, at) => width === widest && isRight[at] === false)
    widths[index] = widest - 1
  }
  return widths
}

/** A line of a table. What does not fit into the terminal is left out. */
function lineOf(
  row: readonly string[],
  widths: readonly number[],
  isRight: readonly boolean[],
  { columns, hasColors, color }: View & { color: (cell: string) => Color | undefined },
): string {
  let line = ''
  let left = columns ?? Number.POSITIVE_INFINITY
  for (const [index, cell] of row.entries()) {
    const gap = index === 0 ? '' : GAP
    const width = Math.min(widths[index] ?? 0, left - gap.length)
    if (width < 1) break
    left -= gap.length + width
    const isLast = index === row.length - 1
    const text =
      isLast && isRight[index] !== true ? cut(cell, width) : pad(cut(cell, width), width, isRight[index] === true)
    const style = hasColors ? color(cell) : undefined
    line += gap + (style === undefined ? text : styleText(style, text, { validateStream: false }))
  }
  return line.trimEnd()
}

/* ── Values ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

const TIME_FIELD = /(?:^|[_.])(?:at|from|to|start|end|as_of)$/

/** The value of a field in a cell. */
function textOf(value: unknown, field: string, view: View, { none = '-' }: { none?: string } = {}): string {
  if (value === undefined) return '-'
  if (value === null) return none
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return TIME_FIELD.test(field) ? timeOf(value, view) : safe(value)
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value))
    return exceptionsText(value) ?? (value.map(item => textOf(item, '', view)).join(',') || none)
  const members = Object.entries(value).map(([name, member]) => `${safe(name)}=${textOf(member, name, view)}`)
  return members.join(' ') || none
}

/** A time of the API as the terminal's user reads it; elsewhere as it is. */
function timeOf(time: string, { columns, timeZone }: View): string {
  const date = new Date(time)
  if (columns === null || Number.isNaN(date.getTime())) return safe(time)
  // Sweden writes 2026-03-15 13:00:00.
  return date.toLocaleString('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
}

/* ── Records ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** One record: a line for each field, and then a table for each list of objects. */
export function recordOf(record: object, view: View): string {
  const fields = Object.entries(record).flatMap(([name, value]) => flat(safe(name), value))
  const tables = Object.entries(record).filter(([, value]) => isTable(value))
  const rows = fields.map(([name, value]) => ({ name, text: textOf(value, name, view) }))
  const lines = tableOf(rows, columns<(typeof rows)[number]>('name', 'text'), view, { titles: false })
  const lists = tables.map(([name, items]) => {
    const titles = [...new Set((items as object[]).flatMap(item => Object.keys(item)))]
    const shown = titles.map(name => ({
      title: safe(name),
      value: (item: object) => (item as Record<string, unknown>)[name],
    }))
    return `\n${safe(name)}:\n${tableOf(items as object[], shown, view)}`
  })
  return (lines + lists.join('')).replace(/^\n/, '')
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTable = (value: unknown): boolean => Array.isArray(value) && value.some(isObject)

/** A field, or those of an object with the names of both. */
function flat(name: string, value: unknown): [name: string, value: unknown][] {
  if (isTable(value)) return []
  if (!isObject(value)) return [[name, value]]
  const members = Object.entries(value)
  return members.length === 0
    ? [[name, null]]
    : members.flatMap(([inner, member]) => flat(`${name}.${safe(inner)}`, member))
}

const graphemes = new Intl.Segmenter()

/** Emoji, and the characters of East Asia that take two columns. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{RGI_Emoji}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/v

/** The number of columns that text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** The text, or as much of it as fits into this many columns, with an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > columns) break
    kept += segment
  }
  return columns < 1 ? '' : `${kept}…`
}

/** The text, with spaces before or behind it. */
export function pad(text: string, columns: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return isRight ? space + text : text + space
}
