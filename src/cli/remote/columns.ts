/** Columns of files, by names that options can replace. */
import type { CsvRow } from '../../domain/basics/csv-rows.ts'
import { columnNames, nameTwice } from '../../domain/quotas/quota-file.ts'
import { didYouMean, UsageError } from '../arguments.ts'

/**
 * The places of columns. Case and blanks around their names do not count.
 *
 * @param shown names the file
 * @param usual their names, by the options that name other ones
 * @throws UsageError if a named or needed column is missing, or is there twice
 */
export function placesIn<Column extends string>(
  header: CsvRow,
  shown: string,
  usual: Readonly<Partial<Record<Column, string>>>,
  named: Partial<Record<Column, string>>,
  needed: readonly Column[],
): Partial<Record<Column, number>> {
  const names = columnNames(header)
  const places: Partial<Record<Column, number>> = {}
  for (const column of Object.keys(usual) as Column[]) {
    const name = (named[column] ?? usual[column] ?? '').trim().toLowerCase()
    const place = names.indexOf(name)
    if (place !== -1) places[column] = place
    else if (named[column] !== undefined || needed.includes(column))
      throw new UsageError(
        `${shown} has no column "${named[column] ?? name}", which --${column} names; its columns are ${names.join(', ')}${didYouMean(name, names)}`,
      )
    if (place !== -1 && nameTwice(names.filter(other => other === name)) !== undefined)
      throw new UsageError(`${shown} has two columns with the name ${name}`)
  }
  return places
}
