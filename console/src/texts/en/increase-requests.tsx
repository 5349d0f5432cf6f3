import type { ReactNode } from 'react'
import { values } from './values.tsx'

/** Users ask for more units, and administrators approve or decline. */
export const increaseRequests = {
  title: 'Requests for more units',
  about: 'Users ask under “My quotas” or by the API, support staff ask for them. The answer is shown there.',
  ownTitle: 'My requests for more units',
  /** On a user's page. */
  openTitle: 'Requests for more units',
  show: 'Show',
  states: { open: 'Open', approved: 'Approved', declined: 'Declined', withdrawn: 'Taken back' },
  all: 'All',
  none: 'No request is open',
  noneAbout: 'Requests appear here when users ask for more units.',
  columns: {
    user: 'User',
    units: 'Asked for',
    reason: 'Reason',
    quota: 'For',
    created: 'Asked',
    status: 'State',
    action: 'Action',
  },
  until: (at: ReactNode) => <>until {at}</>,
  forGood: 'for good',
  given: (units: number, end: ReactNode) => (
    <>
      {values.units(units)} given {end}
    </>
  ),
  by: (actor: ReactNode, at: ReactNode) => (
    <>
      {actor}, {at}
    </>
  ),
  approve: 'Approve…',
  decline: 'Decline…',
  /** For those who may not give this much. */
  askAdministrator: 'An administrator decides: it is more than your role may give.',
  approveFor: (user: string, units: number) => `Approve ${values.units(units)} for ${user}`,
  declineFor: (user: string, units: number) => `Decline ${values.units(units)} for ${user}`,
  user: (id: number) => `user ${id}`,
  takeBack: 'Take back',
  takeBackOf: (units: number) => `Take back the request for ${values.units(units)}`,
  takenBack: 'The request is taken back.',

  ask: {
    open: 'Ask for more…',
    title: 'Ask for more units',
    quota: 'For',
    quotaAbout: 'What gets the units.',
    units: 'Units',
    duration: 'How long',
    durations: {
      window: (end: ReactNode) => <>Until this period ends: {end}</>,
      day: 'For 24 hours',
      always: 'For good',
    },
    reason: 'Reason',
    reasonAbout: 'Administrators read it when they decide.',
    errors: {
      units: 'Enter a whole number from 1.',
      until: 'This time is over. Choose another one.',
      reason: 'Enter a reason of at most 500 characters.',
    },
    submit: 'Ask',
    none: 'You have no package with a limit now that could get more units.',
    sent: (units: number) => `Your request for ${values.units(units)} was sent. The answer appears under “My quotas”.`,
    approved: (units: number, end: ReactNode) => (
      <>
        You got {values.units(units)} {end}.
      </>
    ),
    close: 'Close',
  },

  decision: {
    title: 'Request for more units',
    asks: (user: ReactNode, units: number, end: ReactNode, quota: ReactNode) => (
      <>
        {user} asks for {values.units(units)} {end}: {quota}
      </>
    ),
    units: 'Units',
    unitsAbout: (bound: number | null) =>
      bound === null ? undefined : `Your role may give a user up to ${values.units(bound)} a day.`,
    until: 'Until',
    untilAbout: 'Empty: for good. The limit of the grant is raised.',
    note: 'Note',
    noteAbout: 'The user reads it.',
    errors: {
      units: 'These units cannot be given. Enter a whole number from 1.',
      until: 'Enter a time in the future, or none.',
      note: 'Enter at most 500 characters.',
    },
    submit: { approve: 'Approve', decline: 'Decline' },
    instead: { approve: 'Decline instead', decline: 'Approve instead' },
    approved: (user: string, units: number) => `Approved: ${user} gets ${values.units(units)}.`,
    declined: (user: string) => `Declined: the request of ${user}.`,
    notFound: 'This request does not exist any more',
    notFoundAbout: 'Requests that were decided are kept for a time only.',
  },
}
