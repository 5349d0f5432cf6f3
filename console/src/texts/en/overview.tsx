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
  /** There are further ones. */
  showFirst: (count: number) => `Show the first ${formatUnits(count)}`,
  showMore: 'Show more',
  showFewer: 'Show fewer',

  blocked: {
    title: 'Blocked now',
    about:
      'Users with a denied message in the last hour, and users with an exhausted quota. Every 20 seconds it is checked whether they can send again.',
    bound: 'Among the latest 100 denials and the latest 20 exhausted quotas.',
    paused: 'Paused destinations',
    exhaustedQuotas: 'All exhausted quotas',
    none: 'No user is blocked',
    noneElse: 'No other user is blocked',
    onPurposeTitle: 'Blocked on purpose',
    onPurpose: (count: number) => `${users(count)} blocked, by a pause or a cap of 0`,
    noneAbout: 'No message was denied in the last hour, and no quota is exhausted.',
    columns: { user: 'User', why: 'Why', denied: 'Denied in the last hour', until: 'Until' },
    latest: (message: ReactNode) => <>Latest message: {message}</>,
    /** Of a user with some messages denied. */
    others: (units: number | null) =>
      units === null ? 'Other messages can be sent' : `Other messages can be sent: ${values.units(units)} now`,
    untilLifted: 'Until lifted',
    canSendAgain: (count: number) => `${users(count)} can send again`,
    noDenials: 'None',
    atLeast: (count: number) => `at least ${formatUnits(count)}`,
    waitingDoesNotHelp: 'Waiting does not help',
    announcement: (count: number) => `${users(count)} blocked`,
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
    titles: {
      country: 'Where messages go',
      message_type: 'Where messages go',
      sender: 'Where messages come from',
    },
    about:
      'Units asked for in the last 24 hours, beside the average day of the 7 days before. Both count what was denied. Unusual ones first, except where all was denied.',
    group: 'Group by',
    groups: { country: 'Country', message_type: 'Type', sender: 'Sender' },
    none: 'No messages in the last 24 hours',
    noneAbout: 'Countries, message types and senders appear here after the first message.',
    unnamed: { country: 'No country', message_type: 'No type', sender: 'The service, or not known' },
    columns: {
      country: 'Country',
      message_type: 'Message type',
      sender: 'Sender',
      asked: 'Asked for',
      usual: 'Asked for on a usual day',
      verified: 'Codes entered',
      denied: 'Of which denied',
    },
    times: (factor: number, pace: string | null) =>
      `${formatUnits(Math.round(factor))} times as much as usual${pace === null ? '' : `: ${pace}`}`,
    isNew: (pace: string) => `New: ${pace}`,
    isNewBefore: 'New: none in the 7 days before',
    entered: (messages: number, verified: number) => `${formatUnits(verified)} of ${formatUnits(messages)}`,
    /** Beside what is unusual. */
    blockedFor: (count: number) => `Blocked for ${users(count)}`,
    lastHour: (units: number, denied: number) =>
      `${units === 0 ? 'none' : formatUnits(units)} in the last hour${denied === 0 ? '' : `, ${formatUnits(denied)} of them denied`}`,
    who: 'Who?',
    whoSends: (name: string) => `Who sends to ${name}?`,
    whoSendsType: (name: string) => `Who sends ${name}?`,
    more: (count: number) => `${formatUnits(count)} more`,
  },
  today: {
    title: 'Units used today',
    details: { messages: 'Messages', refunded: 'Units refunded', unfunded: 'Unfunded units' },
    same: 'Same as yesterday',
    times: (factor: number) => `${formatUnits(factor)} times as much as yesterday`,
    more: (share: number) => `${formatPercent(share)} more than yesterday`,
    less: (share: number) => `${formatPercent(share)} less than yesterday`,
    compared: (comparison: string, time: ReactNode, before: number) => (
      <>
        {comparison} until {time}: {formatUnits(before)}
      </>
    ),
    noneYesterday: (time: ReactNode) => <>Yesterday until {time}: 0</>,
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
  webhooks: {
    title: 'Failing webhooks',
    all: 'All webhooks',
    since: (time: ReactNode) => <>All attempts have failed since {time}</>,
    disabled: {
      failing: 'Disabled by the service: no delivery succeeded for 3 days',
      gone: 'Disabled by the service: the receiver answered 410 Gone',
    },
  },
}
