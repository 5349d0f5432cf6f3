import { Timestamp } from '../../components/values.tsx'
import { LOCAL_ZONE } from '../../formats.ts'
import { windowsFrom } from './next-windows.ts'
import type { Terms } from './quota-description.ts'
import classes from './quota-preview.module.css'

const MAX_WINDOWS = 3

/** The next windows of a quota in its time zone, and in the user's if that differs. */
export default function WindowDates({ terms, from }: { terms: Terms; from: number }) {
  const windows = windowsFrom(terms, from, MAX_WINDOWS)
  if (windows === null)
    return <p className={classes.note}>This browser does not know the time zone {terms.time_zone}.</p>
  if (windows.length === 0) return <p className={classes.note}>It expires before it starts.</p>
  const hasOtherZone = terms.period !== null && terms.time_zone !== LOCAL_ZONE
  const format = dateTimeFormat(hasOtherZone ? terms.time_zone : LOCAL_ZONE)
  return (
    <table className={classes.windows}>
      <caption>
        {windows.length === 1 ? 'Window' : `Next ${windows.length} windows`},{' '}
        {hasOtherZone ? `in ${terms.time_zone} and in your time zone` : 'in your time zone'}
      </caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">Until</th>
        </tr>
      </thead>
      <tbody>
        {windows.map(({ start, end }) => (
          <tr key={start}>
            {[start, end].map((at, index) => (
              <td key={index === 0 ? 'start' : 'end'}>
                {at === null ? (
                  'No end'
                ) : hasOtherZone ? (
                  <TwoTimeZones at={at} format={format} />
                ) : (
                  <Timestamp at={new Date(at).toISOString()} />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function TwoTimeZones({ at, format }: { at: number; format: Intl.DateTimeFormat }) {
  return (
    <>
      {format.format(at)}
      <div className={classes.note}>
        <Timestamp at={new Date(at).toISOString()} />
      </div>
    </>
  )
}

function dateTimeFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone })
}
