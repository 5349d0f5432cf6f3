import classes from './units.module.css'

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const LONG_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })
const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' })

/** A moment in the reader's own time zone. @param at as the API tells it */
export function formatMoment(at: string): string {
  return LOCAL.format(new Date(at))
}

/** The same with UTC, as the API tells it, under the pointer. @param none what stands where there is no such moment */
export function Moment({ at, none = '–' }: { at: string | null; none?: string }) {
  if (at === null) return <span>{none}</span>
  return (
    <time className={classes.units} dateTime={at} title={utcOf(at)}>
      {formatMoment(at)}
    </time>
  )
}

/**
 * A day for sentences, with the hour unless the day begins with it.
 * @param isRough the hour is a pretence: what stands there is reckoned
 */
export function Day({ at, isRough = false }: { at: string; isRough?: boolean }) {
  const date = new Date(at)
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return (
    <time dateTime={at} title={utcOf(at)}>
      {(isRough || isMidnight ? LONG_DAY : LONG).format(date)}
    </time>
  )
}

/** A moment of which everybody knows the day. */
export function TimeOfDay({ at }: { at: string }) {
  return (
    <time className={classes.units} dateTime={at} title={utcOf(at)}>
      {CLOCK.format(new Date(at))}
    </time>
  )
}

/** The time of day of what happened today, else the day. */
export function TimeOrDay({ at }: { at: string }) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time className={classes.units} dateTime={at} title={utcOf(at)}>
      {(isToday ? CLOCK : SHORT_DAY).format(date)}
    </time>
  )
}

/** 2026-03-01 12:00:00 UTC */
export function utcOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
