import {
  formatClock,
  formatDistance,
  formatLong,
  formatLongDate,
  formatShortDay,
  formatTimestamp,
  formatToTheSecond,
  formatUnits,
  formatUtc,
  LOCAL_ZONE,
} from '../formats.ts'
import { useNames } from '../queries/names.ts'
import { useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import classes from './values.module.css'

/** Numbers and times of the API as people read them. */

/** A number of units in tabular figures. @param value null is unlimited */
export function Units({ value, none = texts.values.unlimited }: { value: number | null; none?: string }) {
  return <span className={classes.figures}>{value === null ? none : formatUnits(value)}</span>
}

/** Date and time. The tooltip says how far away it is, the user's time zone, and the time in UTC. @param none the text for null */
export function Timestamp({ at, none = '–' }: { at: string | null; none?: string }) {
  return at === null ? <span>{none}</span> : <Time at={at} text={formatTimestamp(at)} />
}

/** Date and time with seconds, where many things happen in a minute. */
export function TimeToTheSecond({ at }: { at: string }) {
  return <Time at={at} text={formatToTheSecond(at)} />
}

/** A date for sentences, with the time unless it is midnight. @param dateOnly for estimates, which are not precise to the hour */
export function LongDate({ at, dateOnly = false }: { at: string; dateOnly?: boolean }) {
  return <Time at={at} text={dateOnly ? formatLongDate(at) : formatLong(at)} />
}

/** The time alone, where the context gives the date. */
export function TimeOfDay({ at }: { at: string }) {
  return <Time at={at} text={formatClock(at)} />
}

/** The time if it is today, otherwise the date. */
export function TimeOrDate({ at }: { at: string }) {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  return <Time at={at} text={isToday ? formatClock(at) : formatShortDay(at)} />
}

/** For sentences about what will happen: "1 April 2026 at 12:00 (in 8 days, Europe/Berlin)". */
export function DistantTime({ at }: { at: string }) {
  return (
    // Long enough to need line breaks, which other times do not have.
    <time dateTime={at} title={formatUtc(at)}>
      {`${formatLong(at)} (${formatDistance(at, Date.now())}, ${LOCAL_ZONE})`}
    </time>
  )
}

/** For sentences in which the hour counts: "13 Jun 2026, 00:00 (Europe/Berlin), in 9 hours". */
export function ExactTime({ at }: { at: string }) {
  const text = `${formatTimestamp(at)} (${LOCAL_ZONE}), ${formatDistance(at, Date.now())}`
  return <Time at={at} text={text} className={classes.exact} />
}

function Time({ at, text, className = classes.figures }: { at: string; text: string; className?: string | undefined }) {
  const hint = `${formatDistance(at, Date.now())} · ${LOCAL_ZONE} · ${formatUtc(at)}`
  return (
    <time className={className} dateTime={at} title={hint}>
      {text}
    </time>
  )
}

/** Who made a change: the name in quotation marks, if it is known, and the subject, because anyone may be named anything. */
export function Actor({ subject }: { subject: string | null }) {
  const { actor, ownActor } = texts.components
  const caller = useCaller()
  if (subject === null) return <span>–</span>
  const isOwn = subject === caller.subject
  // One element, so that the cells of narrow tables do not set the marks around the name apart.
  return (
    <span>
      {(isOwn ? ownActor : actor)(<PrincipalName subject={subject} />)}
      <SubjectOfName subject={subject} />
    </span>
  )
}

/** Who sent or settled a message, in its history: the name, if it is known, and the subject. */
export function Sender({ subject }: { subject: string }) {
  return (
    <span>
      <PrincipalName subject={subject} />
      <SubjectOfName subject={subject} />
    </span>
  )
}

/** The subject of a principal whose name is shown. */
function SubjectOfName({ subject }: { subject: string }) {
  const name = useNames([subject]).get(subject)
  if (name === undefined || name === subject) return null
  return (
    <>
      {' · '}
      <bdi>{subject}</bdi>
    </>
  )
}

/** The name of an actor or sender, with the subject of the token as a tooltip; the subject alone if no name is known. */
export function PrincipalName({ subject }: { subject: string }) {
  const name = useNames([subject]).get(subject)
  return <bdi title={name === undefined ? undefined : subject}>{name ?? subject}</bdi>
}
