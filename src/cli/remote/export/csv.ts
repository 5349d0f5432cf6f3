/** Records of the API as CSV, in the form that the import reads. */
import { csvLine } from '../../../domain/csv.ts'

/** The part of JSON Schema that records use. */
interface RecordSchema {
  type?: string
  properties?: Record<string, RecordSchema>
}

/** A column: its name, and where its value is in a record. */
interface Column {
  name: string
  path: readonly string[]
}

/** The columns of a record, in the order of its schema. The fields of an object within have a column each: `denied.units`. */
export function columnsOf(schema: RecordSchema, path: readonly string[] = []): Column[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = [...path, name]
    return field.properties === undefined ? [{ name: at.join('.'), path: at }] : columnsOf(field, at)
  })
}

/** A line of CSV of a record, with its line break. */
export function csvLineOf(columns: readonly Column[], record: unknown): string {
  return csvLine(columns.map(({ path }) => valueAt(record, path)))
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], record)
}
