import classes from './units.module.css'

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A moment in the reader's own time zone. @param at as the API tells it */
function formatMoment(at: string): string {
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

/** 2026-03-01 12:00:00 UTC */
function utcOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
