import classes from './units.module.css'

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const SHORT_DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const LONG_DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })
const LONG_DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' })

/** All components and functions here take RFC 3339 timestamps of the API and show them in the user's time zone. */

export function formatTimestamp(at: string): string {
  return DATE_TIME.format(new Date(at))
}

/** Date and time, with UTC as a tooltip. @param none the text for null */
export function Timestamp({ at, none = '–' }: { at: string | null; none?: string }) {
  if (at === null) return <span>{none}</span>
  return (
    <time className={classes.units} dateTime={at} title={formatUtc(at)}>
      {formatTimestamp(at)}
    </time>
  )
}

/**
 * A date for sentences, with the time unless it is midnight.
 * @param dateOnly for estimates, which are not precise to the hour
 */
export function LongDate({ at, dateOnly = false }: { at: string; dateOnly?: boolean }) {
  const date = new Date(at)
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {(dateOnly || isMidnight ? LONG_DATE : LONG_DATE_TIME).format(date)}
    </time>
  )
}

/** The time alone, where the context gives the date. */
export function TimeOfDay({ at }: { at: string }) {
  return (
    <time className={classes.units} dateTime={at} title={formatUtc(at)}>
      {TIME.format(new Date(at))}
    </time>
  )
}

/** The time if it is today, otherwise the date. */
export function TimeOrDate({ at }: { at: string }) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time className={classes.units} dateTime={at} title={formatUtc(at)}>
      {(isToday ? TIME : SHORT_DATE).format(date)}
    </time>
  )
}

/** 2026-03-01 12:00:00 UTC */
export function formatUtc(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
