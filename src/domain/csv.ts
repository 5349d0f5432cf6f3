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
        .map(item => readCell(items, item))
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
export function cellOf(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value) && value.every(item => typeof item !== 'object')) return value.join(' ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** A line of CSV, with its line break. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`
}
