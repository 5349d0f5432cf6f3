import type { ReactNode } from 'react'
import type { DenialReason } from '../../../../src/domain/units/reservation.ts'
import { countryLabel, formatUnits } from '../../formats.ts'

/** The log of denials, what was considered for a denied message, and the life of a message. */
export const denials = {
  table: 'Denials',
  columns: {
    message: 'Message',
    denied: 'Denied',
    reason: 'Reason',
    units: 'Units',
    destination: 'For',
    limitedBy: 'Limited by',
    retryAt: 'Try again from',
  },
  explain: 'Explain',
  explainMessage: (id: string) => `Explain: ${id}`,
  skipped: (count: number) =>
    `${formatUnits(count)} earlier ones are counted, but not listed: the list has at most 60 per user and hour`,
  noCountry: 'No country',
  /** What a message named none of. */
  without: { country: 'No country', message_type: 'No type', sender: 'Sender not known' },
  noQuota: 'None',
  waitingDoesNotHelp: 'Waiting does not help',

  /** Why messages are denied, as sentences. */
  reasonSentences: {
    no_quota: 'No grant covered this message.',
    cap_reached: 'A cap had too little room.',
    quota_exhausted: 'The grants for this message had too few units left.',
    destination_paused: 'The destination of this message was paused.',
  } satisfies Record<DenialReason, string>,
  /** Labels and sentences for the user whose messages they are. */
  ownReasons: {
    no_quota: 'Not covered',
    cap_reached: 'Limit reached',
    quota_exhausted: 'Used up',
    destination_paused: 'Paused',
  } satisfies Record<DenialReason, string>,
  ownReasonSentences: {
    no_quota: 'None of your packages covered this message.',
    cap_reached: 'One of your limits had too little room.',
    quota_exhausted: 'Your packages for this message had too few units left.',
    destination_paused: 'The destination of this message was paused.',
  } satisfies Record<DenialReason, string>,

  filters: {
    reason: { label: 'Reason', all: 'All reasons' },
    message: {
      label: 'Message id',
      all: 'All messages',
      error: 'Up to 128 letters, digits and . _ : -, the first a letter or digit',
    },
    messageType: { label: 'Message type', all: 'All types', error: 'Up to 64 lower-case letters, digits, _ and -' },
    sender: { label: 'Sender', all: 'All senders', error: 'Up to 255 characters: the subject of its token' },
    remove: (filter: string) => `Remove the filter: ${filter}`,
  },
  none: 'No denials',
  noneAbout: 'Denied messages appear here. They are kept for some days, by default 7.',
  kept: 'Denials are kept for some days, by default 7.',
  found: {
    title: 'Messages with this id',
    none: 'No message was sent or reserved under this id. Its denials, if there are any, are below.',
    more: 'More ids begin like this. Enter more of the id.',
    life: (id: ReactNode) => <>All that happened to message {id}</>,
  },

  explanation: {
    title: 'Why it was denied',
    message: 'Message',
    user: 'User',
    denied: 'Denied',
    destination: 'For',
    asked: 'Asked for',
    sender: 'Sender',
    retryAt: 'Try again from',
    orFewer: (units: string) => `${units} or fewer`,
    sendable: (asked: string, units: number) =>
      `${asked}; ${units === 0 ? 'none' : formatUnits(units)} could have been sent`,
    considered: 'Quotas considered',
    asOfThen: (time: ReactNode) => <>This was the state on {time}. Quotas may have changed since.</>,
    noQuotas: 'There were no quotas.',
    incomplete: (kept: number) => `Others may be missing: the log keeps ${kept}, and those that had ended last.`,
    endedOn: (time: ReactNode) => <>Did not count: ended on {time}</>,
    /** Why a quota did or did not count. */
    verdicts: {
      blocks: 'Stopped the message: too little room',
      exhausted: 'Nothing left',
      capHasRoom: 'Had enough room',
      hasUnits: 'Covers the message and had units left',
      hasTooFewUnits: 'Covers the message, but had too few units left',
      suspended: 'Did not count: suspended',
      scheduled: 'Did not count: had not started yet',
      no_value: 'Did not count: counts recipients, countries or tags each by itself, and the message named none',
      expired: 'Did not count: ended',
      otherCountry: (country: string) => `Did not count: does not cover ${countryLabel(country)}`,
      needsCountry: 'Did not count: covers certain countries, and the message named none',
      otherType: (type: string) => `Did not count: does not cover the type ${type}`,
      needsType: 'Did not count: covers certain message types, and the message named none',
      draws: 'Would have paid',
      notNeeded: 'Was not needed',
    },
    helps: 'What helps',
    createGrant: 'Create a grant that covers this message',
    raiseCap: 'Raise the limit',
    addUnits: 'Add units',
    /** The quota that limited the message, at present. */
    now: {
      /** @param whole 10 units, or messages */
      left: (left: number, whole: string) => `Now ${formatUnits(left)} of ${whole} left`,
      /** Of a cap that counts each value by itself. @param rule 3 messages to one number, each hour */
      reached: {
        recipient: (rule: string) => `Limit: ${rule}. This number had reached it.`,
        country: (rule: string) => `Limit: ${rule}. This country had reached it.`,
        tag: (rule: string) => `Limit: ${rule}. This tag had reached it.`,
      },
      again: (at: ReactNode) => <>It can go again from {at}.</>,
      enough: ': enough for this message',
    },
    block: {
      by: (actor: ReactNode, at: ReactNode) => (
        <>
          Blocked on purpose by {actor} on {at}
        </>
      ),
      reason: (reason: ReactNode) => <>Reason: {reason}</>,
      noReason: 'No reason was given.',
      lift: 'Lift the block',
    },
    askForMore: 'Ask your administrator for more units.',
    askForRoom: 'Ask your administrator to raise the limit, if waiting is too long.',
  },

  /** The life of one message. */
  message: {
    title: (id: string) => `Message ${id}`,
    about: (user: ReactNode) => <>All that happened to this message of {user}.</>,
    user: (id: number) => `user ${id}`,
    back: 'All messages',
    life: 'Life of the message',
    facts: { units: 'Units', asked: 'Asked for', destination: 'For', state: 'State' },
    notFound: 'Nothing is known of this message',
    notFoundAbout:
      'No sender has asked for it under this id and user, or it was so long ago that it is not kept any more.',
    /** What became of it, in one sentence. */
    outcomes: {
      denied:
        'It was denied, and nothing was charged. It is not sent later by itself: the system that sends has to ask again.',
      reserved: 'Its units are set aside. The sender has not said yet whether it was sent.',
      committed: 'It was allowed and charged. Whether it reached the phone is not known here.',
      refunded: 'It was charged, and all of it was given back.',
      released: 'Its units were given back before it was sent. Nothing was charged.',
      expired: 'The sender never said that it was sent, so its units were given back. Nothing was charged.',
    },
    denied: (reason: string) => `Denied: ${reason}`,
    askedFor: (units: string) => `Asked for ${units}`,
    limitedBy: (quota: ReactNode, sendable: number | null) => (
      <>
        Limited by {quota}
        {sendable !== null && `: ${sendable === 0 ? 'none' : formatUnits(sendable)} could have been sent`}
      </>
    ),
    retryAt: (time: ReactNode) => <>By the quotas of that time, it can go from {time}</>,
    explain: 'Why?',
    earlier: 'Earlier denials of this id are in the log.',
    reserved: (units: string) => `Reserved: ${units}`,
    consumed: (units: string) => `Reserved and committed in one call: ${units}`,
    opening: (units: string) => `Opening balance: ${units} used before`,
    transferred: (units: string) => `${units} handed on`,
    fewerThanAsked: (asked: string) => `${asked} were asked for`,
    forced: 'Past all limits: the sender said that it had been sent already, or limits were only observed',
    charged: 'Charged to',
    counted: 'Counted by',
    unfunded: (units: string) => `${units} were paid by no grant`,
    ownUnfunded: (units: string) => `${units} were not in a package`,
    draw: (units: string, windowStart: ReactNode) => (
      <>
        {units}, in the period from {windowStart}
      </>
    ),
    by: (sender: ReactNode) => <>by sender {sender}</>,
    unknownTime: 'Time not recorded',
    committed: (units: string) => `${units} committed`,
    released: (units: string) => `${units} released`,
    expired: (units: string) => `Expired, ${units} released`,
    committedByForce: (units: string) => `Committed past the limits: ${units} in all`,
    refunded: (units: string) => `Refunded: ${units} in all`,
    verified: 'Code entered',
    outstanding: (units: string) => `${units} still reserved`,
    releasedAt: (time: ReactNode) => <>Released if not committed by {time}</>,
    committedAt: (time: ReactNode) => <>Committed if not released by {time}</>,
    request: (id: string) => `Request ${id}`,
    /** In place of the words above, for the user whose message it is. */
    own: {
      notFoundAbout: 'No message with this id was asked for, or it was so long ago that it is not kept any more.',
      outcomes: {
        denied: 'It was denied, and nothing was charged. It may be sent again later.',
        reserved: 'It is on its way. Its units are set aside.',
        committed: 'It was allowed and charged.',
        refunded: 'It was charged, and all of it was returned.',
        released: 'It was not sent. Nothing was charged.',
        expired: 'It was never sent. Nothing was charged.',
      },
      forced: 'Past all limits',
      reserved: (units: string) => `Set aside: ${units}`,
      consumed: (units: string) => `Charged at once: ${units}`,
      committed: (units: string) => `${units} charged`,
      released: (units: string) => `${units} not used`,
      expired: (units: string) => `Never sent, ${units} not used`,
      committedByForce: (units: string) => `Charged past the limits: ${units} in all`,
      refunded: (units: string) => `Returned: ${units} in all`,
      outstanding: (units: string) => `${units} still set aside`,
      releasedAt: (time: ReactNode) => <>Not charged if not sent by {time}</>,
      committedAt: (time: ReactNode) => <>Charged by {time} unless it is not sent</>,
    },
  },
}
