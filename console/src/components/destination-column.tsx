import { countryLabel } from '../formats.ts'
import classes from './data-table.module.css'
import type { Column } from './data-table.tsx'

/** The country and the message type of a message. @param none the text for no country */
export function destinationColumn<Row extends { country: string | null; message_type: string | null }>(
  label: string,
  none: string,
): Column<Row> {
  return {
    label,
    cell: ({ country, message_type }) => (
      <>
        {country === null ? none : countryLabel(country)}
        {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
      </>
    ),
  }
}
