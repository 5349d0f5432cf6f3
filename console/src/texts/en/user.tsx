import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Period } from '../../../../src/domain/time/period.ts'
import { formatList, formatUnits } from '../../formats.ts'
import { eachPeriod } from './periods.ts'
import { values } from './values.tsx'

const ADJECTIVES = eachPeriod(({ adjective }) => `${adjective} `)
const adjectiveOf = (period: Period | null) => (period === null ? '' : ADJECTIVES[period])

/** A user's page and “My quotas”. */
export const user = {
  title: (id: number, called: string | null) => (called === null ? `User ${id}` : `${called} (${id})`),
  mine: { title: 'My quotas', about: 'Whether you can send, what is left, and what you have sent.' },
  sections: 'Sections',
  tabs: {
    overview: 'Overview',
    reservations: 'Messages',
    denials: 'Denials',
    transfers: 'Transfers',
    changes: 'Changes',
    profile: 'Profile',
  },
  giveUnits: 'Give units',
  newQuota: 'New quota for this user',
  block: 'Block…',

  /** Where units are asked for or given, and a cap stops all messages. */
  blockingCap: {
    stopped: (why: string) => `More units do not help now: ${why}.`,
    until: (at: ReactNode) => <>There is room again at {at}.</>,
    ownAdvice: 'If the limit itself should be raised, say so in the reason.',
    advice: 'To the cap',
    bounded: (cap: string, now: number) => `With more units, ${cap} still lets only ${formatUnits(now)} go now.`,
  },
  status: {
    label: 'Can this user send?',
    ownLabel: 'Can you send?',
    /** “95 units now” is enough where the heading asks. */
    can: (isOwn: boolean, units: string) => (
      <>
        {isOwn ? 'You can send ' : <VisuallyHidden>Can send: </VisuallyHidden>}
        {units} now
      </>
    ),
    canScope: (isOwn: boolean, messages: string, units: ReactNode, isOnly: boolean) => (
      <>
        {isOwn ? 'You can send' : 'Can send'} {isOnly && 'only '}
        {messages}: {units} now
      </>
    ),
    canUnlimited: (isOwn: boolean): string => (isOwn ? 'You can send without limit' : 'Can send without limit'),
    unlimited: 'any number of units',
    until: (units: string, at: ReactNode) => (
      <>
        , {units} until {at}
      </>
    ),
    remain: (units: number, isOwn: boolean) =>
      `${values.units(units)} ${units === 1 ? 'remains' : 'remain'} in the ${isOwn ? 'package' : 'grants'}.`,
    planToCome: (isOwn: boolean, plan: string) =>
      `${isOwn ? 'You get' : 'Gets'} the plan “${plan}” with the first message.`,
    blocked: (isOwn: boolean, why: string) => `${isOwn ? 'You cannot send' : 'Blocked'}: ${why}.`,
    blockedUntil: (isOwn: boolean, at: ReactNode, why: string) => (
      <>
        {isOwn ? 'You cannot send' : 'Blocked'} until {at}: {why}.
      </>
    ),
    startsAt: (isOwn: boolean, at: ReactNode) => (
      <>
        {isOwn ? 'You can send' : 'Can send'} from {at}.
      </>
    ),
    /** A cap that has no room, as part of `usedUp`. */
    cap: (period: Period | null, limit: number, isOwn: boolean) =>
      `the ${adjectiveOf(period)}${isOwn ? 'limit' : 'cap'} of ${formatUnits(limit)}`,
    /** A cap that is raised for its current window only. */
    raised: (period: Period | null, isOwn: boolean, to: number, until: string, from: number) =>
      `The ${adjectiveOf(period)}${isOwn ? 'limit' : 'cap'} is ${formatUnits(to)} until ${until}, and then ${formatUnits(from)}.`,
    usedUp: (caps: readonly string[]) => `${formatList(caps)} ${caps.length === 1 ? 'is' : 'are'} used up`,
    allowsNone: (cap: string) => `${cap} allows none`,
    why: {
      exhausted: 'all units are used up',
      suspended: (isOwn: boolean): string => (isOwn ? 'your quotas are suspended' : 'the quotas are suspended'),
      expired: (isOwn: boolean): string => (isOwn ? 'your quotas have expired' : 'the quotas have expired'),
      none: (isOwn: boolean): string => (isOwn ? 'you have no quotas yet' : 'there are no quotas yet'),
      capsOnly: (isOwn: boolean): string =>
        isOwn ? 'you have limits, but no package' : 'there are caps, but no grant that pays',
      notCovered: (isOwn: boolean): string => (isOwn ? 'no package covers them' : 'no grant covers them'),
    },
    ask: 'Ask your administrator for more units.',
    askForRoom: 'Ask your administrator to raise the limit.',
    others: 'All other messages',
    scope: {
      can: (messages: string, units: string) => `${messages}: ${units} now`,
      blocked: (messages: string, why: string) => `${messages}: blocked, ${why}.`,
      blockedUntil: (messages: string, at: ReactNode, why: string) => (
        <>
          {messages}: blocked until {at}, {why}.
        </>
      ),
      startsAt: (messages: string, at: ReactNode) => (
        <>
          {messages}: from {at}.
        </>
      ),
    },
    more: (count: number) => `${formatUnits(count)} more kinds of messages differ`,
    raiseCap: 'Raise the cap',
    liftBlock: 'Lift the block',
    raise: (name: string) => `Raise “${name}”`,
    addUnits: 'Add units',
    resume: 'Resume a quota',
    create: 'Create a quota',
  },

  forecast: {
    unlimited: (rate: string) => `${rate}, unlimited.`,
    lasts: (rate: string) => `${rate}; lasts more than a year.`,
    /** Grants that reset. */
    lastsEachPeriod: (rate: string) => `${rate}; at that rate, the units last until each reset.`,
    now: (rate: string) => `${rate}.`,
    denied: (denied: number, asked: number, days: number) =>
      `In the last ${days} days, ${formatUnits(denied)} of the ${values.units(asked)} asked for were denied.`,
    runsOut: (rate: string, at: ReactNode) => (
      <>
        {rate}; at that rate, sending stops around {at}.
      </>
    ),
    runsOutSoon: (rate: string) => `${rate}; at that rate, sending stops within minutes.`,
    withoutScoped: (isOwn: boolean) =>
      `${isOwn ? 'Limits' : 'Caps'} for certain countries or message types are not included.`,
    /** A cap has another limit until then, and the old one stops sending. */
    capStops: (rate: string, period: Period | null, isOwn: boolean, limit: number, at: ReactNode) => (
      <>
        {rate}; at that rate, the {adjectiveOf(period)}
        {isOwn ? 'limit' : 'cap'}, which is {formatUnits(limit)} again by then, stops sending around {at}.
      </>
    ),
  },
  countries: {
    title: 'Units by country in the last 30 days',
    none: 'No messages in the last 30 days',
    columns: { country: 'Country', sent: 'Sent, share', denied: 'Denied' },
  },
  quotas: {
    title: 'Quotas',
    ownTitle: 'Packages and limits',
    openList: 'Open in the quota list',
    pastTheEnd: 'This page is past the end of the list.',
    none: 'No quotas yet',
    ownNone: 'You cannot send messages without a quota. Ask an administrator to create one.',
    noneAbout: 'The user cannot send messages without a quota.',
    createFirst: 'Create the first one',
  },

  reservations: {
    table: 'Messages',
    about: (denials: ReactNode) => <>Sent messages, and those on their way. Denied ones are under {denials}.</>,
    columns: {
      reservation: 'Message',
      state: 'State',
      units: 'Units',
      destination: 'For',
      chargedTo: 'Charged to',
      created: 'Created',
    },
    filters: {
      state: { label: 'State', all: 'All states' },
      chargedTo: 'Charged to',
      allQuotas: 'All quotas',
      otherQuota: 'Another quota',
      from: 'From',
      to: 'To',
    },
    until: (at: ReactNode) => <>Until {at}</>,
    noCountry: 'No country',
    noQuota: 'No quota',
    countedBy: (caps: ReactNode) => <>counted by {caps}</>,
    opening: 'Opening balance',
    transferred: 'Handed on',
    by: (sender: ReactNode) => <>by {sender}</>,
    forced: 'Past all limits',
    requested: (units: number) => `${formatUnits(units)} requested`,
    committed: (units: number) => `${formatUnits(units)} committed`,
    released: (units: number) => `${formatUnits(units)} released`,
    refunded: (units: number) => `${formatUnits(units)} refunded`,
    /** For the user whose messages they are. */
    own: {
      committed: (units: number) => `${formatUnits(units)} charged`,
      released: (units: number) => `${formatUnits(units)} not used`,
      refunded: (units: number) => `${formatUnits(units)} returned`,
    },
    none: 'No messages',
    noneAbout: 'Messages appear here when they are reserved or sent.',
    searchingAbout: 'Older messages are not searched yet.',
  },
}
