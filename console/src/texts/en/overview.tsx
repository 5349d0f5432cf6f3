import type { ReactNode } from 'react'
import { formatPercent, formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

const messages = (count: number) => `${formatUnits(count)} ${count === 1 ? 'message' : 'messages'}`
const users = (count: number) => `${formatUnits(count)} ${count === 1 ? 'user' : 'users'}`

/** The overview of the platform. */
export const overview = {
  title: 'Overview',
  about: 'Who is blocked, who will run out, what is unusual. Updated live.',
  live: {
    live: 'Live',
    connecting: 'Connecting…',
    unreachable: 'Not live: the service is not responding',
    failed: (error: string) => `Not live: ${error}`,
  },
  user: (id: number) => `User ${id}`,
  showAll: (count: number) => `Show all ${formatUnits(count)}`,
  showFewer: 'Show fewer',

  blocked: {
    title: 'Blocked now',
    about:
      'Users with a denied message in the last hour, and users with a quota that reached 100%. Their other messages may still be sent: see the user.',
    bound: 'Among the latest 100 denials and the latest 20 used-up quotas.',
    usedUpQuotas: 'All used-up quotas',
    none: 'Nobody is blocked',
    noneAbout: 'No message was denied in the last hour, and no quota is used up.',
    columns: { user: 'User', why: 'Why', denied: 'Denied in the last hour', until: 'Until' },
    latest: (message: ReactNode) => <>Latest: {message}</>,
    usedUp: 'Used up',
    noDenials: 'None',
    waitingDoesNotHelp: 'Waiting does not help',
    announcement: (count: number) => `${users(count)} blocked`,
  },
  runningOut: {
    title: 'Running out this week',
    about: 'At their present daily rate. Among the 20 users who sent most in the last 7 days, and those near a limit.',
    none: 'Nobody runs out within 7 days',
    noneAbout: 'A forecast needs a week of usage.',
    columns: { user: 'User', runsOut: 'Runs out around', rate: 'Units per day', left: 'Left now' },
  },
  near: {
    title: 'Near their limit',
    about: 'Quotas that have reached an alert, by default at 80%.',
    more: 'More quotas have reached an alert.',
    none: 'No quota is near its limit',
    noneAbout: 'Quotas appear here when they reach an alert, by default at 80%.',
    columns: { quota: 'Quota', used: 'Used', usage: 'Usage', resets: 'Resets', ends: 'Ends' },
    never: 'Never',
  },
  ending: {
    title: 'Ending this week',
    about: 'Most units left first.',
    all: 'All that end within 7 days',
    none: 'No quota ends within 7 days',
    columns: { quota: 'Quota', left: 'Left', usage: 'Usage', ends: 'Ends' },
    bound: (count: number) => `Of the ${formatUnits(count)} that end first.`,
  },
  denials: {
    title: 'Denied in 24 hours',
    all: 'All denials',
    caption: (denied: number, units: number) => `${denied === 1 ? 'message' : 'messages'}, ${values.units(units)}`,
    chart: (busiest: string | null, count: number) =>
      `Denied messages by the hour and reason. ${busiest === null ? 'None.' : `Most from ${busiest}: ${formatUnits(count)}.`}`,
    hour: (start: string, parts: readonly string[]) =>
      `From ${start}: ${parts.length === 0 ? 'none denied' : parts.join(', ')}`,
    part: (count: number, reason: string) => `${formatUnits(count)} ${reason.toLowerCase()}`,
    announcement: (count: number) => `${messages(count)} denied in 24 hours`,
  },
  destinations: {
    title: 'Where messages go',
    about:
      'Units asked for in the last 24 hours, granted or denied, beside the average day of the 7 days before. Unusual ones first.',
    group: 'Group by',
    groups: { country: 'Country', message_type: 'Type' },
    none: 'No messages in the last 24 hours',
    noneAbout: 'Countries and message types appear here after the first message.',
    noCountry: 'No country',
    noType: 'No type',
    columns: { country: 'Country', message_type: 'Message type', asked: 'Units', usual: 'Usual day', denied: 'Denied' },
    times: (factor: number) => `${formatUnits(Math.round(factor))} times as much as usual`,
    isNew: 'New: none in the 7 days before',
    who: 'Who?',
    whoSends: (name: string) => `Who sends to ${name}?`,
    whoSendsType: (name: string) => `Who sends ${name}?`,
    more: (count: number) => `${formatUnits(count)} more`,
  },
  senders: {
    about: 'The last 24 hours, among the 10 users who sent most and the users of the latest 50 denials.',
    none: 'None of these users sends there',
    table: 'Users who send there',
    columns: { user: 'User', sent: 'Units sent', denied: 'Units denied', action: 'Action' },
    cap: (name: string) => `Cap ${name}`,
    capFor: (name: string, user: number) => `Cap ${name} for user ${user}`,
  },
  today: {
    title: 'Units used today',
    details: { messages: 'Messages', refunded: 'Units refunded', unfunded: 'Unfunded units' },
    none: 'None yesterday',
    same: 'Same as yesterday',
    times: (factor: number) => `${formatUnits(factor)} times as much as yesterday`,
    more: (share: number) => `${formatPercent(share)} more than yesterday`,
    less: (share: number) => `${formatPercent(share)} less than yesterday`,
    compared: (comparison: string, time: ReactNode, before: number) => (
      <>
        {comparison} by {time}
        {before > 0 && `: ${formatUnits(before)}`}
      </>
    ),
    today: 'Today',
    yesterday: 'Yesterday',
    chart: (busiest: string | null, units: number) =>
      `Units by the hour, today and yesterday. ${busiest === null ? 'None today.' : `Busiest from ${busiest}: ${formatUnits(units)}.`}`,
    hour: (start: string, today: number | null, yesterday: number | null) =>
      `From ${start}: ${[
        ...(today === null ? [] : [`${formatUnits(today)} today`]),
        ...(yesterday === null ? [] : [`${formatUnits(yesterday)} yesterday`]),
      ].join(', ')}`,
    announcement: (count: number) => `${values.units(count)} used today`,
  },
  top: {
    title: 'Top users',
    period: 'Period',
    periods: { today: 'Today', week: '7 days' },
    none: { today: 'No messages today', week: 'No messages in the last 7 days' },
    noneAbout: 'Users appear here after their first message.',
    columns: { user: 'User', units: 'Units', messages: 'Messages', denied: 'Denied' },
  },
  webhooks: {
    title: 'Failing webhooks',
    all: 'All webhooks',
    since: (time: ReactNode) => <>All attempts have failed since {time}</>,
    disabled: {
      failing: 'Disabled by the service: no delivery succeeded for 3 days',
      gone: 'Disabled by the service: the receiver answered 410 Gone',
    },
  },
  activity: {
    title: 'Activity',
    none: 'No events yet',
    noneAbout: 'Quota changes, alerts and expirations appear here automatically.',
    since: (count: number, time: ReactNode) => (
      <>
        {count === 0 ? 'No new events' : `${formatUnits(count)} new`} since {time}
      </>
    ),
    showing: (count: number) => `; showing the latest ${formatUnits(count)}`,
    skipped: '. Some events were skipped',
    announcement: (count: number, latest: string | null) =>
      `${formatUnits(count)} new ${count === 1 ? 'event' : 'events'}${latest === null ? '' : `, the latest: ${latest}`}`,
    /** Several events of one kind as one line. */
    group: (count: number, what: string) => `${formatUnits(count)} × ${what}`,
    kinds: {
      created: (actor: string) => `quota created by ${actor}`,
      updated: (actor: string) => `quota updated by ${actor}`,
      deleted: (actor: string) => `quota deleted by ${actor}`,
      threshold: (percent: number) => `threshold reached: ${percent}%`,
      exhausted: 'quota exhausted',
      ended: 'quota ended',
      expired: 'reservation expired',
      disabled: 'webhook disabled',
      erased: 'user erased',
    },
    usersOf: (links: ReactNode, more: number) => (
      <>
        Users {links}
        {more > 0 && ` and ${formatUnits(more)} more`}
      </>
    ),
  },
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
    expiredCommitted: (units: number) => `expired, ${values.units(units)} committed`,
    expiredReleased: (units: number) => `expired, ${values.units(units)} released`,
    disabledGone: 'disabled: the receiver answered 410 Gone',
    disabledFailing: 'disabled: all deliveries failed',
    erased: 'erased',
    unlimited: 'unlimited',
    each: { hour: ' each hour', day: ' each day', week: ' each week', month: ' each month', year: ' each year' },
    suspended: ', suspended',
  },
}
