import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'

/** Parts that several pages share: tables, badges, notices, dialogs. */
export const components = {
  unknownFilters: {
    title: (filters: string, count: number) =>
      `The address has ${count === 1 ? 'a filter that does' : 'filters that do'} not exist: ${filters}`,
    without: 'Show the list without filters',
  },
  noRows: {
    searching: 'None found so far',
    searchingAbout: 'Older ones are not searched yet.',
    older: 'No older ones',
    filtered: 'Nothing matches these filters',
  },
  clearFilters: 'Clear filters',
  userFilter: {
    label: 'User',
    all: 'All users',
    none: 'No user was found. Enter an id, a name or a reference',
    several: 'Several users were found. Choose one',
  },
  contact: { ask: 'Ask for help', open: 'Contact' },
  periodFilter: {
    label: 'Time',
    all: 'Any time',
    names: {
      today: 'Today',
      yesterday: 'Yesterday',
      last7Days: 'Last 7 days',
      lastWeek: 'Last week',
      thisMonth: 'This month',
      other: 'From … to …',
    },
    from: 'From',
    to: 'To',
  },
  countryFilter: { label: 'Country', all: 'All countries', error: 'Choose one country, such as Germany, DE or +49' },
  statuses: {
    active: 'Active',
    exhausted: 'Exhausted',
    scheduled: 'Scheduled',
    suspended: 'Suspended',
    expired: 'Expired',
    deleted: 'Deleted',
  },
  /** In place of "exhausted" for a cap that lets nothing pass. */
  blocked: 'Blocked',
  reservationStates: {
    reserved: 'Reserved',
    committed: 'Committed',
    refunded: 'Refunded',
    expired: 'Expired',
    released: 'Released',
  },
  /** For the user whose messages they are. */
  ownReservationStates: {
    reserved: 'On its way',
    committed: 'Charged',
    refunded: 'Returned',
    expired: 'Never sent',
    released: 'Not sent',
  },
  pages: {
    label: 'Pages of the list',
    newest: 'Newest',
    older: 'Older',
    first: 'First',
    previous: 'Previous',
    next: 'Next',
    last: 'Last',
    position: (first: number, last: number, total: number) =>
      `${formatUnits(first)}–${formatUnits(last)} of ${formatUnits(total)}`,
    pastTheEnd: (total: number) => `None on this page, ${formatUnits(total)} in total`,
  },
  close: 'Close',
  loading: 'Loading…',
  notFound: {
    title: 'Page not found',
    text: 'This page does not exist, or you do not have access to it.',
    toStart: 'Go to the start page',
  },
  brokenPage: {
    title: 'This page could not be shown',
    text: 'The service may have been updated since you opened the console.',
    reload: 'Load the console again',
  },
  actor: (actor: ReactNode) => <>“{actor}”</>,
  ownActor: (actor: ReactNode) => <>“{actor}” (you)</>,
  leaving: 'Your input is not saved. Leave this page and lose it?',
  errors: {
    loadingFailed: 'Loading failed',
    retrying: 'Retrying…',
    tryAgain: 'Try again',
    request: 'Request',
    noResponse: 'No response',
    unreachable: 'The service is not responding.',
    checkFirst: 'The request may have been processed. Check before you try again.',
    inputKept:
      'The request may have been processed. Your input is kept: try again when the service is back. The change is applied only once.',
    /** By the code of the problem. The detail of the service, which names values, is shown below the text. */
    problems: {
      unknown_user: {
        title: 'Unknown reference',
        text: 'No user has this reference. Give it to the user on the user’s page, or name the user by id.',
      },
      not_enough_units: { title: 'Not enough units', text: 'Less than that is left to hand on.' },
      too_many_pauses: { title: 'Too many pauses', text: 'Lift a pause that is not needed any more.' },
      link_outdated: { title: 'Link outdated', text: 'This link does not work any more.' },
      not_found: { title: 'Not found', text: 'It does not exist, or it was deleted.' },
      method_not_allowed: { title: 'Method not allowed', text: 'The service does not have this call.' },
      unauthenticated: { title: 'Not authenticated', text: 'The token is missing, has expired or is not accepted.' },
      forbidden: { title: 'Forbidden', text: 'Your role does not allow this.' },
      payload_too_large: { title: 'Payload too large', text: 'The input is larger than the service accepts.' },
      unsupported_media_type: {
        title: 'Unsupported media type',
        text: 'The service does not accept this kind of data.',
      },
      invalid_request: { title: 'Invalid request', text: 'The service does not accept some of the input.' },
      version_mismatch: { title: 'Version mismatch', text: 'It was changed since this page loaded it.' },
      immutable_field: {
        title: 'Cannot be changed',
        text: 'One of these settings can no longer change. Create a new quota instead.',
      },
      below_usage: { title: 'Below usage', text: 'The new limit is below the units that are used and reserved.' },
      no_grant: {
        title: 'No quota for the units',
        text: 'The units need a quota that has a limit and counts now. Choose another one.',
      },
      request_closed: { title: 'Already closed', text: 'The request was decided or taken back before.' },
      too_many_requests: {
        title: 'Too many requests for units',
        text: '3 can be open at a time, and 10 be made in 24 hours. Take one back, or wait.',
      },
      not_transferable: {
        title: 'Cannot be handed on',
        text: 'Units can be taken only from a grant with a limit that counts now.',
      },
      too_many_quotas: {
        title: 'Too many quotas',
        text: 'The user has the maximum number of quotas. Delete one that is not needed.',
      },
      too_many_webhooks: {
        title: 'Too many webhooks',
        text: 'There is the maximum number of webhooks. Delete one that is not needed.',
      },
      too_many_plans: {
        title: 'Too many plans',
        text: 'There is the maximum number of plans. Archive one that is not needed.',
      },
      plan_archived: { title: 'Plan archived', text: 'The plan is archived. Choose another one.' },
      too_many_rate_cards: {
        title: 'Too many prices',
        text: 'There is the maximum number of rate cards, or of versions of this one that are to come. Archive a card that is not needed, or replace a version by one with the same start.',
      },
      rate_card_archived: { title: 'Rate card archived', text: 'The rate card is archived. Choose another one.' },
      rate_card_in_use: {
        title: 'Rate card in use',
        text: 'It is the default, or a plan or a user has it. Give them another one first.',
      },
      no_rate: { title: 'No rate', text: 'No rate card has priced the message, so its segments have no units.' },
      exceeds_reservation: {
        title: 'Exceeds the reservation',
        text: 'These are more units than the reservation holds.',
      },
      exceeds_committed: { title: 'Exceeds what is committed', text: 'These are more units than have been committed.' },
      conflict: { title: 'Conflict', text: 'Another quota of the user already has this reference.' },
      idempotency_mismatch: {
        title: 'Idempotency mismatch',
        text: 'An earlier request of this form had other values.',
      },
      reservation_closed: {
        title: 'Reservation closed',
        text: 'The units of the reservation are already committed or given back.',
      },
      open_reservations: {
        title: 'Open reservations',
        text: 'The user has open reservations. Wait until they are settled or expired.',
      },
      being_erased: {
        title: 'Being erased',
        text: 'The data of this user is being erased. Try again when that has finished.',
      },
      events_lost: { title: 'Events lost', text: 'The database has lost events that were shown before.' },
      events_pruned: { title: 'Events pruned', text: 'Events that were not shown yet have been removed.' },
      rate_limited: { title: 'Too many requests', text: 'Too many requests in a short time. Wait a few seconds.' },
      internal: {
        title: 'Internal error',
        text: 'The service failed unexpectedly. Its log has the details under the id of the request.',
      },
      unavailable: { title: 'Unavailable', text: 'The database of the service is not available now.' },
      overloaded: { title: 'Overloaded', text: 'The service has too many requests now.' },
    },
  },
}
