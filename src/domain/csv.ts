/** Values of the API as cells of CSV, and back. */

/** The part of JSON Schema that fields of rows use. */
export interface FieldSchema {
  type?: string
  anyOf?: readonly FieldSchema[]
  items?: FieldSchema
  enum?: readonly unknown[]
}

/**
 * The value that a cell stands for. A list is separated by spaces, an object is JSON, and `null` is null where the field takes
 * it. What does not fit stays text, which the schema of the field then refuses.
 */
export function readCell(schema: FieldSchema, text: string): unknown {
  return valueIn(schema, restored(text))
}

function valueIn(schema: FieldSchema, text: string): unknown {
  const options = schema.anyOf ?? [schema]
  if (text === 'null' && options.some(({ type }) => type === 'null')) return null
  const { type, items = {} } = options[0] ?? {}
  switch (type) {
    case 'integer':
      return /^-?(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text
    case 'array':
      return text
        .split(' ')
        .filter(item => item !== '')
        .map(item => valueIn(items, item))
    case 'object':
      return parsed(text)
    default:
      return text
  }
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
  if (!Array.isArray(value) || value.some(item => typeof item === 'object')) return neutralized(JSON.stringify(value))
  const isOfText = value.some(item => typeof item === 'string')
  return isOfText ? neutralized(value.join(' ')) : value.join(' ')
}

/** A line of CSV of values, with its line break. Numbers stay numbers; no text is a formula to a spreadsheet. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map(cellOf)
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

const neutralized = (text: string): string => text.replace(FORMULA, "'")

const restored = (text: string): string => text.replace(NEUTRALIZED, '')
