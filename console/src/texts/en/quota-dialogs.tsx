import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { capitalized } from '../by-period.ts'
import { eachPeriod } from './periods.ts'
import { values } from './values.tsx'

const sendable = (units: number | null) => (units === null ? 'any number of units' : values.units(units))

/** The dialogs that change a quota, a part of the texts `quota`. */
export const dialogs = {
  effect: {
    liftsLimit: 'This lifts a limit.',
    losesUnits: (units: number | null) =>
      units === null ? 'An unlimited grant is taken away.' : `${values.units(units)} left cannot be used any more.`,
    /** The kind of message that figures are about; empty for messages without country and type. */
    scope: (country: string | null, type: string | null) =>
      [...(type === null ? [] : [` in ${type} messages`]), ...(country === null ? [] : [` to ${country}`])].join(''),
    canSend: (user: number, before: number | null, after: number | null, scope: string) =>
      before === after && after === 0
        ? `User ${user} cannot send anything${scope} now, with or without this quota.`
        : before === after
          ? `User ${user} can still send ${sendable(after)}${scope} now, as other quotas allow.`
          : `User ${user} can then send ${sendable(after)}${scope} now instead of ${before === null ? 'any number' : formatUnits(before)}.`,
    unknown: (user: number) => `How many units user ${user} can then send could not be read.`,
  },
  adjust: {
    direction: 'Direction',
    add: 'Add units',
    remove: 'Remove units',
    units: 'Units',
    /** Where units are only added. */
    unitsToAdd: 'Units to add',
    quickAmounts: 'Quick amounts',
    covers: (change: string) => `${change} covers what was denied`,
    /** Up to as much as was asked for in the busiest of some windows before. */
    coversBusiest: {
      hour: (change: string, hours: number) => `${change} covers the busiest of the last ${hours} hours`,
      day: (change: string, days: number) => `${change} covers the busiest of the last ${days} days`,
      week: (change: string, weeks: number) => `${change} covers the busiest of the last ${weeks} weeks`,
      month: (change: string, months: number) => `${change} covers the busiest of the last ${months} months`,
    },
    busiest: {
      hour: (hours: number, units: number) => `In the busiest of the last ${hours} hours it was ${formatUnits(units)}.`,
      day: (days: number, units: number) => `On the busiest of the last ${days} days it was ${formatUnits(units)}.`,
      week: (weeks: number, units: number) => `In the busiest of the last ${weeks} weeks it was ${formatUnits(units)}.`,
      month: (months: number, units: number) =>
        `In the busiest of the last ${months} months it was ${formatUnits(units)}.`,
    },
    /** In how many of some windows before something was denied. */
    deniedBefore: {
      hour: (denied: number, hours: number) => `In ${denied} of the last ${hours} hours, units were denied as well.`,
      day: (denied: number, days: number) => `On ${denied} of the last ${days} days, units were denied as well.`,
      week: (denied: number, weeks: number) => `In ${denied} of the last ${weeks} weeks, units were denied as well.`,
      month: (denied: number, months: number) =>
        `In ${denied} of the last ${months} months, units were denied as well.`,
    },
    /** What was asked for in a time, beside the quota. */
    demand: (when: string, granted: number, denied: number, kind: 'grant' | 'cap') =>
      `${when}, ${values.units(granted + denied)} ${granted + denied === 1 ? 'was' : 'were'} asked for: ${formatUnits(granted)} granted, ${formatUnits(denied)} denied because of ${kind === 'cap' ? 'a cap' : 'too few units'}. Each attempt counts.`,
    demandIn: { ...eachPeriod(({ current }) => capitalized(current)), none: 'In the last 24 hours' },
    bound: (units: number) => `Your role may change a user’s limits by up to ${values.units(units)} a day.`,
    windows: 'For how long',
    everyWindow: eachPeriod(({ noun }) => `Every ${noun} from now on`),
    thisWindow: eachPeriod(({ current }) => `${capitalized(current)} only`),
    limitNow: (limit: number, left: number | null) =>
      `The limit is ${formatUnits(limit)}${left === null ? '' : `; ${formatUnits(left)} are left`}.`,
    limitGoes: (from: number, to: number) => `The limit goes from ${formatUnits(from)} to ${formatUnits(to)}.`,
    inEveryWindow: eachPeriod(({ currentAndLater }) => `It counts ${currentAndLater}.`),
    leftInWindow: (from: number, to: number) => `${formatUnits(to)} are then left now instead of ${formatUnits(from)}.`,
    addsGrant: (units: number, end: ReactNode, limit: number) => (
      <>
        This adds a one-time grant of {values.units(units)} that ends on {end}. The limit stays at {formatUnits(limit)},
        and what is left of the added units does not roll over.
      </>
    ),
    grantName: 'Extra units:',
    reason: 'Reason',
    reasonAbout: 'Shown in the history.',
    reasonOfGrant: 'Kept in the metadata of the added grant.',
    commonReasons: 'Common reasons',
    reasons: {
      grant: ['Customer request', 'Goodwill', 'Paid top-up', 'Campaign', 'Correction'],
      cap: ['Customer request', 'Cap too low', 'Goodwill', 'Campaign', 'Correction'],
    },
    submit: 'Adjust limit',
    submitGrant: 'Add units',
    usedUp: 'With what support staff changed for this user in the last 24 hours, it is more than your role may change.',
    above: 'This is more than your role may change.',
    ask: 'Ask an administrator',
    asked: 'Administrators are asked for the units.',
    done: (limit: number) => `The limit is now ${formatUnits(limit)}.`,
    grantDone: (units: number) => `${values.units(units)} added, as a grant of their own.`,
    raises: (from: number, to: number, until: ReactNode) => (
      <>
        The limit is {formatUnits(to)} until {until}, and then {formatUnits(from)} again.
      </>
    ),
    raiseDone: 'The cap is raised.',
    /** Beside a cap that is raised already. */
    raisedAlready: eachPeriod(
      ({ current }) => `It is already raised for ${current} only. What you add counts until then, too.`,
    ),
    adjustFollowing: 'To raise it for good, adjust the cap that follows.',
    errors: {
      delta: `Enter a whole number of at least 1. The limit must stay from 0 to ${formatUnits(10 ** 12)}.`,
      reason: 'Enter a reason of 1 to 500 characters.',
    },
  },
  belowUsage: {
    text: 'You can still set this limit. Units already used stay used, and the quota is exhausted until it resets or the limit is raised.',
    confirm: 'Set limit anyway',
  },
  suspend: {
    about: {
      grant: 'Its windows go on while it is suspended. You can resume it at any time.',
      cap: 'While it is suspended, the cap limits nothing, and what is sent then does not count in it. You can resume it at any time.',
    },
    consent: (user: number) => `Lift this limit of user ${user}`,
    consentMissing: 'Tick the box to confirm that the limit is lifted.',
    submit: { grant: 'Suspend grant', cap: 'Suspend cap' },
    done: { grant: 'Suspended: senders cannot use it.', cap: 'Suspended: the cap limits nothing.' },
  },
  delete: {
    about: {
      grant: (user: number) =>
        `User ${user} can no longer use this grant. This cannot be undone. The history is kept, and open reservations can still be committed or released.`,
      cap: (user: number) => `The cap limits user ${user} no longer. This cannot be undone. The history is kept.`,
    },
    changedMeanwhile: 'The quota was changed by someone else. Confirm again to delete it.',
    typeName: (id: number) => `Type the name, or the id ${id}, to delete it`,
    typeId: (id: number) => `Type the id ${id} to delete it`,
    notConfirmed: (id: number) => `Type the name of this quota, or its id ${id}.`,
    submit: { grant: 'Delete grant', cap: 'Delete cap' },
    done: { grant: 'The grant is deleted.', cap: 'The cap is deleted.' },
  },
}
