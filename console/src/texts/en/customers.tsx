import type { ReactNode } from 'react'
import { formatChange, formatUnits } from '../../formats.ts'

const customersOf = (count: number) => (count === 1 ? '1 customer' : `${formatUnits(count)} customers`)

/** The list of customers. */
export const customers = {
  title: 'Customers',
  about: 'What users can send now, how soon that ends, and what they sent and were denied in 30 days.',
  search: { label: 'Id, reference or name', all: 'Begins with…' },
  views: { label: 'Views', all: 'All', at_risk: 'At risk', unmet: 'Ask for more than they may' },
  aboutViews: {
    at_risk: 'The most urgent first: blocked, near a limit, running out within a week, or a grant ends within a week.',
    unmet:
      'Denied in 30 days for lack of units or by a cap, most units first. A message that is tried again and again counts each time.',
  },
  state: { label: 'State', all: 'All states' },
  plan: { label: 'Plan', all: 'All plans' },
  columns: {
    customer: 'Customer',
    state: 'State',
    sendable: 'Can send',
    used: 'Share used',
    sent: 'Sent in 30 days',
    denied: 'Share denied',
    growth: 'Growth',
    last: 'Last message',
    unmet: 'Units lacking',
  },
  states: {
    blocked: 'Blocked',
    near_limit: 'Near a limit',
    running_out: 'Running out',
    ending: 'Ending',
    ok: 'Can send',
    blocked_on_purpose: 'Blocked on purpose',
    no_quota: 'No quota counts now',
  },
  /** Of some messages only. */
  blockedInPart: 'Blocked in part',
  now: (units: number) => `${formatUnits(units)} now`,
  nothing: 'nothing now',
  unlimited: 'unlimited',
  until: {
    blocked: (at: ReactNode) => <>until {at}</>,
    near_limit: (at: ReactNode) => <>period ends {at}</>,
    running_out: (at: ReactNode) => <>about {at}</>,
    ending: (at: ReactNode) => <>ends {at}</>,
  },
  /** Of a chart of 30 days. */
  daily: (most: number) => `Units on each of the last 30 days, at most ${formatUnits(most)}`,
  grown: (percent: number) => `${formatChange(percent)}%`,
  isNew: 'new',
  never: 'Never',
  none: 'No customers yet',
  noneAbout: 'A user appears a minute after the first quota or message.',
  noneFound: 'No customer matches',
  noneAtRisk: 'No customer is at risk',
  noneUnmet: 'No customer asks for more than it may',
  goOn: 'None was found so far. The next page goes on.',
  notFound: 'No user has an id, a reference or a name that begins so',
  notFoundAbout: 'Upper and lower case differ in references.',
  unknown: (id: number) => `Nothing is known of user ${id}`,
  unknownAbout: 'Users belong to another system: check the id there. A first quota makes the user known here.',
  createFor: (id: number) => `New quota for user ${id}`,
  more: 'More users match. Type more.',
  age: {
    title: 'How old these figures are',
    now: 'What a customer can send, the state and the share used are of now.',
    until: (at: ReactNode) => (
      <>
        All else, and the order, has what happened until {at}. The 30 days end when the figures of a customer were made,
        a day ago at most.
      </>
    ),
    incomplete: 'The service has not looked at all users yet: some are missing.',
  },
  exporting: {
    button: 'Export CSV',
    running: (count: number) => `${customersOf(count)} exported…`,
    done: (count: number) => `${customersOf(count)} exported.`,
    cancel: 'Stop the export',
  },
}
