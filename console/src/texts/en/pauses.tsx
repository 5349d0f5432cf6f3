import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { type SomeUsers, someUsers } from './some-users.ts'

const enteredOf = (entered: number) => (entered === 0 ? 'none entered' : `${formatUnits(entered)} of them entered`)

/** Paused destinations. */
export const pauses = {
  title: 'Paused destinations',
  about:
    'Messages to these countries are denied, whichever quotas a user has. A pause takes effect within two seconds.',
  tabs: { pauses: 'Pauses', breaker: 'Breaker', caps: 'Caps' },
  make: 'Pause a destination…',
  show: 'Show',
  shown: { active: 'Paused now', over: 'Ended or lifted', all: 'All' },
  origin: { label: 'Made by', all: 'All' },
  origins: { person: 'A person', breaker: 'The breaker' },
  allUsers: 'All users',
  none: { active: 'No destination is paused', over: 'No pause has ended', all: 'No pauses yet' },
  noneAbout: 'A pause stops messages to a country at once, for one user or for all.',
  columns: {
    country: 'Country',
    user: 'For',
    types: 'Types',
    until: 'Until',
    made: 'Made',
    reason: 'Reason',
    stopped: 'Denied in 24 hours',
    action: 'Action',
  },
  stoppedBound: (latest: number, isAll: boolean) =>
    `Counted by the log of denials, of which at most the latest ${formatUnits(latest)} of the day are read for each reason${isAll ? '' : ': there were more'}.`,
  allTypes: 'All',
  untilLifted: 'Until lifted',
  observed: 'Only observed, nothing was denied',
  /** Why the breaker paused: codes that were not entered, and how many are allowed. */
  evidence: {
    flight: (codes: number, allowed: number) => `${codes} codes in 5 minutes not entered, ${allowed} allowed`,
    hour: (codes: number, allowed: number) => `${codes} codes in an hour not entered, ${allowed} allowed`,
    day: (codes: number, allowed: number) => `${codes} codes in 24 hours not entered, ${allowed} allowed`,
  },
  by: (actor: ReactNode, at: ReactNode) => (
    <>
      {actor}, {at}
    </>
  ),
  lifted: (actor: ReactNode, at: ReactNode) => (
    <>
      Lifted by {actor}, {at}
    </>
  ),
  lift: 'Lift…',
  liftFor: (country: string, user: number | null) =>
    `Lift the pause of ${country} for ${user === null ? 'all users' : `user ${user}`}`,
  lifting: {
    title: 'Lift the pause?',
    about: (country: string, isForAll: boolean) =>
      `Messages to ${country} go again${isForAll ? ' for all users' : ''}, as far as quotas allow and no other pause holds.`,
    submit: 'Lift the pause',
    close: 'Cancel',
    done: (country: string) => `Messages to ${country} are no longer paused.`,
  },
  form: {
    title: 'Pause destinations',
    who: 'For',
    whoLabels: { one: 'One user', all: 'All users' },
    user: 'User id or ref: and the reference',
    countries: 'Countries',
    countriesAbout: 'A pause for each, which can be lifted by itself.',
    types: 'Message types',
    typesAbout: 'Empty pauses messages of all types, and of none.',
    until: 'Until',
    untilAbout: 'Empty: until it is lifted.',
    reason: 'Reason',
    reasonAbout: 'Senders and administrators read it, users do not.',
    errors: {
      user_id: 'Enter an id, or ref: and a reference.',
      country: 'Choose at least one country.',
      message_types: 'Up to 64 lower-case letters, digits, _ and - each.',
      until: 'Enter a time in the future.',
      reason: 'Enter a reason.',
    },
    forAll: 'This denies the messages of every user.',
    submit: (count: number) => (count === 1 ? 'Pause' : `Make ${formatUnits(count)} pauses`),
    done: (countries: string) => `Paused: ${countries}.`,
    part: 'Some may have been made. Try again: none is made twice.',
  },
  /** In sentences about one user's messages. @param why for administrators */
  paused: (country: string, types: readonly string[] | null, until: ReactNode, why: ReactNode) => (
    <>
      Messages{types === null ? '' : ` of type ${types.join(', ')}`} to {country} are paused{' '}
      {until === null ? 'until further notice' : <>until {until}</>}
      {why === null ? '.' : <>: {why}</>}
    </>
  ),
  /** Why, if the breaker paused. Those of the last 5 minutes may still be entered. */
  codes: {
    flight: (codes: number) => `${formatUnits(codes)} codes in 5 minutes, not entered yet`,
    hour: (codes: number, entered: number) => `${formatUnits(codes)} codes in an hour, ${enteredOf(entered)}`,
    day: (codes: number, entered: number) => `${formatUnits(codes)} codes in 24 hours, ${enteredOf(entered)}`,
  },
  /** Of a denied message whose destination is not paused any more. */
  noLonger: 'The destination is not paused any more.',
  /** The caps of the default plan. */
  caps: {
    title: 'Caps of new users',
    about: 'What each new user gets with the default plan, and how many messages it denied.',
    columns: { cap: 'Cap', rule: 'Rule', stopped: 'Denied in 24 hours' },
    noPlan: 'No plan is the default',
    toPlans: 'Make a plan the default, and each new user gets its caps.',
    none: (plan: string) => `The default plan “${plan}” has no caps`,
    others: (denials: number) =>
      denials === 0
        ? 'Other caps denied no message.'
        : `Other caps denied ${formatUnits(denials)} ${denials === 1 ? 'message' : 'messages'}.`,
    edit: (plan: string) => `Edit the plan “${plan}”`,
  },
  /** On the list of a country's senders. */
  senders: {
    paused: 'Paused',
    pausedFor: (name: string, user: number) => `Paused: ${name} for user ${user}`,
    open: (name: string, of: SomeUsers, count: number) => `Pause ${name} for ${someUsers[of](count)}…`,
    about: (name: string, of: SomeUsers, count: number) =>
      `A pause of ${name} for ${someUsers[of](count)}, one for each, which can be lifted by itself. To stop all users, also those who have not sent there yet, pause it for all.`,
    confirm: (of: SomeUsers, count: number) => `Pause for ${someUsers[of](count)}`,
    all: 'Pause for all users…',
    done: (name: string, of: SomeUsers, count: number) => `${name} is paused for ${someUsers[of](count)}.`,
  },
}
