/** Values of the API as cells of CSV, and back. */

/** The part of JSON Schema that fields of rows use. */
export interface FieldSchema {
  type?: string
  anyOf?: readonly FieldSchema[]
  items?: FieldSchema
  enum?: readonly unknown[]
  format?: string
}

/** How a cell says that it holds null: databases write `\N`. */
const NULL = /^(?:[Nn][Uu][Ll][Ll]|\\N)$/

/** Whether each character of a cell is part of the value. Blanks around anything else say nothing. */
export function isPlainText(schema: FieldSchema): boolean {
  const { type, format, enum: values } = schema.anyOf?.[0] ?? schema
  return type === 'string' && format === undefined && values === undefined
}

/**
 * The value that a cell stands for. A list is separated by blanks or is JSON, an object is JSON, and `null` is null where the field
 * takes it; in any case, as `true` and `false`. What does not fit stays text, which the schema of the field then refuses.
 */
export function readCell(schema: FieldSchema, cell: string): unknown {
  const options = schema.anyOf ?? [schema]
  const { type, format, items = {} } = options[0] ?? {}
  const written = isPlainText(schema) ? cell : cell.trim()
  if (NULL.test(written) && options.some(option => option.type === 'null')) return null
  const text = restored(written)
  if (type === 'array') return listOf(items, text)
  if (format === 'time') return timeIn(text)
  return type === 'object' ? parsed(text) : plainValue(type, text)
}

/** Databases and programs write times with a blank for the `T`, and offsets of whole hours as `+02`. */
function timeIn(text: string): string {
  const [, day, time, offset] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?)([Zz]|[+-]\d\d(?::\d\d)?)?$/.exec(text) ?? []
  if (day === undefined) return text
  return `${day}T${time}${offset?.replace(/^[+-]\d\d$/, '$&:00') ?? ''}`
}

function plainValue(type: string | undefined, text: string): unknown {
  if (type === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (type !== 'integer') return text
  // An apostrophe is how spreadsheets keep a number as it was typed.
  const [, digits] = /^'?(0|-?[1-9]\d*)$/.exec(text) ?? []
  return digits !== undefined && Number.isSafeInteger(Number(digits)) ? Number(digits) : text
}

function listOf({ type }: FieldSchema, text: string): unknown {
  const json = text.startsWith('[') ? parsed(text) : undefined
  if (Array.isArray(json)) return json
  return text
    .split(/\s+/)
    .filter(item => item !== '')
    .map(item => plainValue(type, item))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The text of a cell: a list of plain values is separated by spaces; what else is no plain value is JSON. */
function cellOf(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return neutralized(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (!Array.isArray(value) || value.length === 0 || !value.every(isPlainItem))
    return neutralized(JSON.stringify(value))
  const isOfText = value.some(item => typeof item === 'string')
  return isOfText ? neutralized(value.join(' ')) : value.join(' ')
}

const isPlainItem = (item: unknown) => (typeof item === 'string' ? /^(?!\[)\S+$/.test(item) : typeof item !== 'object')

/** A line of CSV of values, with its line break. Numbers stay numbers, null is an empty cell; no text is a formula to a spreadsheet. */
export function csvLine(values: readonly unknown[]): string {
  return lineOf(values.map(value => cellOf(value ?? undefined)))
}

/** A line of values that are read again: null and an empty text are none that is left out. */
export function csvRecord(values: readonly unknown[]): string {
  return lineOf(values.map(value => (value === '' ? EMPTY : cellOf(value))))
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`
}

/*
 * Spreadsheets take a text for a formula that begins with one of these characters. Others may have written the text, and a
 * formula can send the rest of the file away, so an apostrophe goes before it. In countries with a decimal comma spreadsheets
 * separate by semicolons, also between quotation marks, so that a cell can begin within a text, too.
 *
 * A text that looks like the result gets another apostrophe, so that each text is read as it was.
 */
const BEGINS_FORMULA = '[=+\\-@\\t\\r\uFF1D\uFF0B\uFF0D\uFF20]'
const FORMULA = new RegExp(`(?<=^|[;\\t\\r\\n])(?=["']*${BEGINS_FORMULA})`, 'g')
const NEUTRALIZED = new RegExp(`(?<=^|[;\\t\\r\\n])'(?=["']*${BEGINS_FORMULA})`, 'g')

/** The cell of an empty text: an empty cell is a value that is left out. */
const EMPTY = "''"

/**
 * What spreadsheets write in place of a value that they could not work out (`#N/A`, `#WERT!`, `Err:502`), that is wider than its column
 * (`####`), or of a long number (`1.23E+11`).
 */
const LOST = /^(?:#[¡¿]?[\p{Lu}\d_/]{2,}[!?]|#N\/[A-Z]|#NV|#GETTING_DATA|#{3,}|Err:\d{3}|-?\d(?:[.,]\d+)?E\+\d{2,})$/u

/** Whether a text is no value, but what a spreadsheet shows in its place. */
export const isLost = (cell: string): boolean => LOST.test(cell.trim())

/** Texts that would be read as null, as an empty text, or as no value get an apostrophe, too, and those that look like the result. */
function looksOtherwise(text: string): boolean {
  const bare = text.replace(/^'+/, '')
  return NULL.test(bare) || isLost(bare) || /^''+$/.test(text)
}

const neutralized = (text: string): string => (looksOtherwise(text) ? `'${text}` : text.replace(FORMULA, "'"))

/** How a formula keeps a spreadsheet from taking a text for a number: `="0042"`. */
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/

function restored(cell: string): string {
  if (cell === EMPTY) return ''
  const [, inner] = TEXT_FORMULA.exec(cell) ?? []
  if (inner !== undefined) return inner.replaceAll('""', '"')
  return /^'/.test(cell) && looksOtherwise(cell) ? cell.slice(1) : cell.replace(NEUTRALIZED, '')
}
