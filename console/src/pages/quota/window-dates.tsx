import { Moment } from '../../parts/moment.tsx'
import type { Terms } from './effect.ts'
import classes from './effect-preview.module.css'
import { READERS_ZONE } from './local-time.ts'
import { windowsFrom } from './next-windows.ts'

const SHOWN = 3

/** When the first windows of a quota begin and end: on the clock of its zone, and on the reader's. */
export default function WindowDates({ terms, from }: { terms: Terms; from: number }) {
  const windows = windowsFrom(terms, from, SHOWN)
  if (windows === null)
    return <p className={classes.own}>This browser does not know the time zone {terms.time_zone}.</p>
  if (windows.length === 0) return <p className={classes.own}>It is over before it begins.</p>
  const isElsewhere = terms.period !== null && terms.time_zone !== READERS_ZONE
  const clock = clockOf(isElsewhere ? terms.time_zone : READERS_ZONE)
  return (
    <table className={classes.windows}>
      <caption>
        {windows.length === 1 ? 'Its window' : `Its next ${windows.length} windows`},{' '}
        {isElsewhere ? `in ${terms.time_zone} and in your time` : 'in your time'}
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
                ) : isElsewhere ? (
                  <Both at={at} clock={clock} />
                ) : (
                  <Moment at={new Date(at).toISOString()} />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Both({ at, clock }: { at: number; clock: Intl.DateTimeFormat }) {
  return (
    <>
      {clock.format(at)}
      <div className={classes.own}>
        <Moment at={new Date(at).toISOString()} />
      </div>
    </>
  )
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone })
}
