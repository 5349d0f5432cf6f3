import type { ReactNode } from 'react'
import { formatList, formatPercent, formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

const messages = (count: number) => `${formatUnits(count)} ${count === 1 ? 'message' : 'messages'}`
/** "3", and with further ones "3+". */
const some = (count: number, isMore: boolean) => `${formatUnits(count)}${isMore ? '+' : ''}`
const customers = (count: number, isMore: boolean) => `${some(count, isMore)} ${count === 1 ? 'customer' : 'customers'}`
const users = (count: number) => `${formatUnits(count)} ${count === 1 ? 'user' : 'users'}`

/** The overview of the platform. */
export const overview = {
  title: 'Overview',
  live: {
    live: 'Live',
    connecting: 'Connecting…',
    unreachable: 'Not live: the service is not responding',
    failed: (error: string) => `Not live: ${error}`,
  },
  user: (id: number) => `User ${id}`,
  showAll: (count: number) => `Show all ${formatUnits(count)}`,
  showFewer: 'Show fewer',

  /** Whether all is well. */
  strip: {
    title: 'Is all well?',
    how: 'How this is found',
    about:
      'Read every 12 seconds. Customers at risk are those of the list of customers, whose figures may be some minutes old. A country is unusual if at least 20 units, and 3 times those of an average day of the week before, were asked for in 24 hours. + says that there may be more.',
    allWell: (time: string) => `All is well, at ${time}`,
    service: (reason: string) => `The service is degraded: ${reason}`,
    unread: (parts: readonly string[]) => `Not known now: ${formatList(parts)}`,
    parts: {
      pauses: 'pauses',
      breaker: 'the breaker',
      webhooks: 'webhooks',
      customers: 'customers at risk',
      requests: 'requests',
      destinations: 'unusual countries',
      usage: 'usage',
      events: 'activity',
    },
    findings: {
      pauses: (count: number, _isMore: boolean) => `${formatUnits(count)} ${count === 1 ? 'pause' : 'pauses'} on`,
      trips: (count: number, isMore: boolean) => `${some(count, isMore)} paused by the breaker in 24 hours`,
      webhooks: (count: number, _isMore: boolean) =>
        `${formatUnits(count)} ${count === 1 ? 'webhook fails' : 'webhooks fail'}`,
      blocked: (count: number, isMore: boolean) => `${customers(count, isMore)} blocked`,
      near_limit: (count: number, isMore: boolean) => `${customers(count, isMore)} near the limit`,
      running_out: (count: number, isMore: boolean) => `${customers(count, isMore)} running out`,
      ending: (count: number, isMore: boolean) => `${customers(count, isMore)} with a grant that ends`,
      requests: (count: number, isMore: boolean) =>
        `${some(count, isMore)} ${count === 1 ? 'request waits' : 'requests wait'}`,
      unusual: (count: number, _isMore: boolean) =>
        `${formatUnits(count)} unusual ${count === 1 ? 'country' : 'countries'}`,
      observed: (count: number, isMore: boolean) => `${some(count, isMore)} observed by the breaker`,
    },
  },
  decisions: {
    title: 'Needs a decision',
    open: 'Open',
    decide: 'Decide…',
    look: 'Look',
    pause: 'Pause…',
    who: 'Who?',
    allUsers: 'all users',
    tripped: (country: string, who: ReactNode, until: ReactNode) => (
      <>
        {country}: {who} paused by the breaker{until !== null && <> until {until}</>}
      </>
    ),
    observed: (country: string, who: ReactNode) => (
      <>
        {country}: {who} would be paused
      </>
    ),
    codes: (count: number) => `${formatUnits(count)} ${count === 1 ? 'code' : 'codes'} not entered`,
    failingSince: (time: ReactNode) => <>All attempts have failed since {time}</>,
    disabled: {
      failing: 'Disabled by the service: no delivery succeeded for 3 days',
      gone: 'Disabled by the service: the receiver answered 410 Gone',
    },
    asks: (who: ReactNode, units: number) => (
      <>
        {who} asks for {values.units(units)}
      </>
    ),
    unusual: (country: string, units: number) => `${country}: ${values.units(units)} asked for in 24 hours`,
    usual: (units: string) => `On a usual day: ${units}`,
  },
  atRisk: {
    title: 'Customers at risk',
    all: 'All',
    open: 'Open',
    /** What can be sent now. */
    sendable: (units: number | null) => (units === null ? 'unlimited now' : `${formatUnits(units)} now`),
    /** @param messages which are, if not all */
    blocked: (messages: string | null, reason: string, until: ReactNode) => (
      <>
        {messages === null ? 'Blocked' : `Blocked for ${messages}`}: {reason}
        {until !== null && <>, until {until}</>}
      </>
    ),
    near: (percent: string, until: ReactNode) => (
      <>
        {percent} used{until !== null && <>, period ends {until}</>}
      </>
    ),
    runningOut: (at: ReactNode) => <>Runs out around {at}</>,
    ending: (at: ReactNode) => <>A grant ends {at}</>,
  },
  traffic: 'Where messages go, and who sends most',
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
    details: {
      messages: 'Messages',
      denied: 'Denied messages',
      refunded: 'Units refunded',
      unfunded: 'Unfunded units',
    },
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
    sent: 'Sent',
    denied: 'Denied',
    yesterday: 'Sent yesterday',
    chart: 'Units by the hour, today and yesterday',
    hour: (start: string, today: { sent: number; denied: number } | null, yesterday: number | null) =>
      `From ${start}: ${[
        ...(today === null ? [] : [`${formatUnits(today.sent)} sent and ${formatUnits(today.denied)} denied today`]),
        ...(yesterday === null ? [] : [`${formatUnits(yesterday)} sent yesterday`]),
      ].join(', ')}`,
    announcement: (count: number, denied: number) => `${values.units(count)} used today, ${messages(denied)} denied`,
  },
}
