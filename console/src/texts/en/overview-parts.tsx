import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { eachPeriod } from './periods.ts'
import { type SomeUsers, someUsers } from './some-users.ts'
import { values } from './values.tsx'

/** The parts of the overview that are loaded after its first screen. */
export const overviewParts = {
  senders: {
    period: 'Period',
    periods: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days' },
    within: { hour: 'the last hour', day: 'the last 24 hours', week: 'the last 7 days', month: 'the last 30 days' },
    all: (within: string) => `All users who sent there in ${within}, or were denied.`,
    top: (within: string, count: number, { sent, most }: { sent: number; most: number }) =>
      `In ${within}: the ${formatUnits(count)} users who sent most. Others, who sent ${formatUnits(sent)} units together and ${formatUnits(most)} at most each, and users who were only denied are not shown.`,
    none: 'No user sends there',
    table: 'Users who send there',
    columns: { user: 'User', sent: 'Units used', share: 'Share', denied: 'Units denied', select: 'Select' },
    select: (user: number) => `Select user ${user}`,
    blockAll: {
      open: (name: string, of: SomeUsers, count: number) => `Block ${name} for ${someUsers[of](count)}…`,
      about: (name: string, of: SomeUsers, count: number) =>
        `A cap of 0 for ${name} for ${someUsers[of](count)}, one for each, which can be lifted by itself. Users who are not listed here, such as those who have not sent there yet, are not blocked.`,
      confirm: (of: SomeUsers, count: number) => `Block for ${someUsers[of](count)}`,
    },
    blocked: 'Blocked',
    blockedFor: (name: string, user: number) => `Blocked: ${name} for user ${user}`,
  },
  top: {
    title: 'Top users',
    none: 'No messages in this period',
    noneAbout: 'Users appear here after their first message.',
  },
  activity: {
    title: 'Activity',
    /** Several events of one kind as one line. */
    group: (count: number, what: string) => `${formatUnits(count)} × ${what}`,
    kinds: {
      created: {
        grant: (actor: string) => `grant created by ${actor}`,
        cap: (actor: string) => `cap created by ${actor}`,
        block: (actor: string) => `block created by ${actor}`,
        extra: (actor: string) => `extra units given by ${actor}`,
      },
      updated: (actor: string) => `quota updated by ${actor}`,
      deleted: (actor: string) => `quota deleted by ${actor}`,
      threshold: (percent: number) => `threshold reached: ${percent}%`,
      exhausted: 'quota exhausted',
      ended: 'quota ended',
      expired: 'reservation expired',
      transferred: {
        'transfer.made': 'units transferred',
        'transfer.returned': 'units given back',
      },
      requested: {
        open: 'more units asked for',
        approved: 'request approved',
        declined: 'request declined',
        withdrawn: 'request withdrawn',
      },
      paused: {
        'pause.made': 'destination paused',
        'pause.lifted': 'pause lifted',
        'breaker.tripped': 'pumped traffic',
      },
      disabled: 'webhook disabled',
      erased: 'user erased',
    },
    usersOf: (links: ReactNode, count: number, more: number) => (
      <>
        {count === 1 ? 'User' : 'Users'} {links}
        {more > 0 && ` and ${formatUnits(more)} more`}
      </>
    ),
  },
  /** Who changed a quota, in sentences with "by". */
  you: 'you',
  /** What happened to the quota, reservation or webhook that stands before it. */
  events: {
    quota: (id: number) => `Quota ${id}`,
    reservation: (id: string) => `Reservation ${id}`,
    webhook: (id: number) => `Webhook ${id}`,
    created: (actor: string, allowance: string) => `created by ${actor}: ${allowance}`,
    updated: (actor: string, allowance: string) => `updated by ${actor}: now ${allowance}`,
    deleted: (actor: string) => `deleted by ${actor}`,
    exhausted: 'exhausted',
    reached: (percent: number, remaining: number | null) =>
      `reached ${percent}%${remaining === null ? '' : `: ${values.units(remaining)} left`}`,
    ended: 'ended',
    transferred: {
      'transfer.made': {
        in: (units: number) => `came by a transfer, ${values.units(units)}`,
        out: (units: number) => `gave ${values.units(units)} away`,
      },
      'transfer.returned': {
        in: (units: number) => `got ${values.units(units)} back`,
        out: (units: number) => `gave ${values.units(units)} back`,
      },
    },
    request: (units: number) => `Request for ${values.units(units)}`,
    requested: { open: 'made', approved: 'approved', declined: 'declined', withdrawn: 'withdrawn' },
    paused: {
      'pause.made': ({ isForAll, until }: PauseValues) =>
        `paused${isForAll ? ' for all users' : ''} ${until === null ? 'until lifted' : `until ${until}`}`,
      'pause.lifted': ({ isForAll }: PauseValues) => `no longer paused${isForAll ? ' for all users' : ''}`,
      'breaker.tripped': ({ observed, codes }: PauseValues) =>
        `${codes} ${codes === 1 ? 'code' : 'codes'} not entered: ${observed ? 'would be paused' : 'paused by the breaker'}`,
    },
    expiredCommitted: (units: number) => `expired, ${values.units(units)} committed`,
    expiredReleased: (units: number) => `expired, ${values.units(units)} released`,
    disabledGone: 'disabled: the receiver answered 410 Gone',
    disabledFailing: 'disabled: all deliveries failed',
    erased: 'erased',
    unlimited: 'unlimited',
    each: eachPeriod(({ noun }) => ` each ${noun}`),
    from: (at: string) => ` from ${at}`,
    until: (at: string) => ` until ${at}`,
    /** A cap with another limit until then. @param after the limit from then on */
    raised: (limit: string, at: string, after: string) => `${limit} until ${at}, then ${after} again`,
    suspended: ', suspended',
  },
}

/** What events say of a pause. */
interface PauseValues {
  isForAll: boolean
  until: string | null
  observed: boolean
  /** That were not entered. */
  codes: number
}
