import type { ReactNode } from 'react'
import { formatDayOfYear, formatUnits } from '../../formats.ts'
import { eachPeriod } from './periods.ts'
import { description, startWords } from './quota-description.ts'
import { dialogs } from './quota-dialogs.tsx'
import { values } from './values.tsx'

/** One quota: its page, forms and dialogs. */
export const quota = {
  ...dialogs,
  user: (id: number) => `user ${id}`,
  windowEnds: 'until',
  title: (id: number) => `Quota ${id}`,

  page: {
    about: (kind: ReactNode, id: number, user: ReactNode) => (
      <>
        {kind} {id} of {user}
      </>
    ),
    ofPlan: (plan: ReactNode, version: number) => (
      <>
        by the plan {plan}, version {version}
      </>
    ),
    edit: 'Edit',
    duplicate: 'Duplicate',
    adjust: 'Adjust limit',
    suspend: 'Suspend',
    resume: 'Resume',
    resumed: { grant: 'Resumed.', cap: 'Resumed: the cap limits again.' },
    delete: 'Delete',
    sections: 'Sections',
    tabs: { settings: 'Settings', windows: 'Past windows', history: 'History' },
    notFound: (id: number) => `Quota ${id} not found`,
    noSuchId: 'No quota has this id.',
    toList: 'Go to the quota list',
    isDeleted: 'This quota is deleted.',
    deletedBy: (actor: ReactNode, at: ReactNode) => (
      <>
        {actor} deleted it on {at}. Its history is kept.
      </>
    ),
  },

  window: {
    label: 'Current window',
    fromTo: (from: ReactNode, to: ReactNode) => (
      <>
        {from} – {to}
      </>
    ),
    noEnd: 'no end',
    ends: (distance: string, zone: string) => `ends ${distance}, times in ${zone}`,
    limit: 'Limit',
    rolledOver: 'Rolled over',
    used: 'Used',
    reserved: 'Reserved',
    over: 'Over the limit',
    remaining: 'Remaining',
  },

  settings: {
    labels: {
      user_id: 'User id',
      kind: 'Kind',
      name: 'Name',
      limit: 'Limit',
      period: 'Resets',
      anchor: 'First day',
      time_zone: 'Time zone',
      per: 'The limit holds for',
      counts: 'Counts',
      rollover_limit: 'Rollover',
      overage_limit: 'Overage',
      starts_at: 'Starts',
      expires_at: 'Expires',
      countries: 'Countries',
      message_types: 'Message types',
      alert_at: 'Alerts',
      enabled: 'Suspended',
      priority: 'Priority',
      external_ref: 'External reference',
      metadata: 'Metadata',
    },
    metadata: {
      extends_quota: 'Extra units for',
      continues_quota: 'Follows the raised cap',
      continued_by: 'Followed by the cap',
      raised_from: 'Limit before the raise',
      reason: 'Reason',
    },
    periods: eachPeriod(({ noun }) => `Each ${noun}`),
    per: {
      all: 'All together',
      recipient: 'Each recipient by itself',
      country: 'Each country by itself',
      tag: 'Each tag by itself',
    },
    counts: { units: 'Units', messages: 'Messages' },
    oneTime: 'One-time (does not reset)',
    fromDay: (period: string, anchor: string) => `${period} from ${startWords(anchor, formatDayOfYear)}`,
    day: (anchor: string) => startWords(anchor, formatDayOfYear),
    notRecorded: 'Not recorded',
    none: 'None',
    all: 'All',
    never: 'Never',
    yes: 'Yes',
    no: 'No',
    upTo: (units: number) => `Up to ${values.units(units)}`,
    alertsAt: (percents: string) => `At ${percents} used`,
    created: 'Created',
    lastChanged: 'Last changed',
    atBy: (at: ReactNode, actor: ReactNode) => (
      <>
        {at} by {actor}
      </>
    ),
    version: (version: number) => `version ${version}`,
  },

  form: {
    newTitle: 'New quota',
    newAbout: 'Only user and limit are required.',
    copyAbout: (source: ReactNode) => <>A copy of {source}. Check the values, then create it.</>,
    editTitle: (name: string) => `Edit ${name}`,
    create: 'Create quota',
    save: 'Save changes',
    cancel: 'Cancel',
    cannotChange: 'Cannot be changed',
    optional: 'Optional',
    /** @param what countries, or messages @param user as typed; may be empty */
    blockTitle: (what: string, user: string) => `Block ${what}${user === '' ? '' : ` for user ${user}`}`,
    blockAbout: 'A cap of 0: none of these messages are sent until it is suspended or deleted, or ends.',
    blockOthers: 'Messages to other countries go on.',
    /** Of a block without one of its own. @param what is blocked */
    blockName: (what: string) => `Block ${what}`,
    block: 'Block',
    allOfUser: 'all messages',
    blockReason: 'Reason for the block',
    blockReasonAbout: 'Shown to administrators in the history of the cap and beside denials. The user does not see it.',
    blockReasonMissing: 'Give a reason, for those who meet the block later.',
    presets: 'Start from',
    preset: {
      monthly: { name: 'Monthly package', label: 'Monthly package', about: 'A grant that resets each month' },
      prepaid: { name: 'Prepaid pack', label: 'Prepaid pack', about: 'A one-time grant, valid for a year' },
      dailyCap: { name: 'Daily cap', label: 'Daily cap', about: 'A limit of units each day' },
      countryCap: { name: 'Country cap', label: 'Country cap', about: 'A limit of units to a country each month' },
      recipientCap: {
        name: 'Codes to one number',
        label: '3 codes an hour to one number',
        about: 'A limit of otp messages, which each number has for itself',
      },
      eachCountryCap: {
        name: 'Messages to any one country',
        label: '500 a day to any one country',
        about: 'A limit of messages, which each country has for itself',
      },
      tagCap: {
        name: 'Messages for each tag',
        label: '1,000 a day for each tag',
        about: 'A limit of messages, which each tag has for itself: a campaign, or a department',
      },
    },
    userAbout: 'The user’s id on your platform.',
    grantAbout: 'Units for sending messages. A user’s grants add up.',
    capAbout: 'A limit on what is sent across all grants. It gives no units. A limit of 0 blocks.',
    perAbout: 'All messages, or each value by itself.',
    countsAbout: 'A long text is one message of several units.',
    inTotal: { units: 'Units in total.', messages: 'Messages in total.' },
    eachPeriod: {
      units: eachPeriod(({ noun }) => `Units each ${noun}.`),
      messages: eachPeriod(({ noun }) => `Messages each ${noun}.`),
    },
    unlimited: 'Unlimited',
    nameAbout: 'Shown in lists.',
    periodAbout: 'When usage is set back to 0.',
    firstMonth: 'First month',
    joined: 'The day on which the user gets the plan',
    firstDayAbout: 'On which usage is set back to 0. In a shorter month it is the last day.',
    zoneAbout: 'Resets follow this time zone. Type to search.',
    zonesSuggested: 'Suggested',
    zonesAll: 'All',
    rolloverGroup: 'Rollover and overage',
    rollOver: (units: string) => `${units} roll over`,
    overage: (units: string) => `${units} overage`,
    rolloverAbout: 'Maximum of unused units carried into the next window.',
    rolloverNotHere: 'Only for quotas that reset.',
    overageAbout: 'Units allowed beyond the limit.',
    scheduleGroup: 'Schedule',
    startsNow: 'Starts immediately',
    from: (at: string) => `From ${at}`,
    until: (at: string) => `until ${at}`,
    neverExpires: 'Never expires',
    startAbout: 'Leave empty to start immediately.',
    expiryAbout: 'Leave empty if it never expires.',
    yourZone: (zone: string) => `Your time zone: ${zone}`,
    timeHint: (utc: string, distance: string, zone: string) => `${distance} · ${utc} · your time zone: ${zone}`,
    scopeGroup: 'Scope',
    allMessages: 'All messages',
    countriesAbout:
      'Limits the quota to messages to these countries. Leave empty for all. A message whose country the sender does not say is to none of them.',
    allCountries: 'All countries',
    exceptThese: 'All countries except these',
    typesAbout: 'Limits the quota to these types, such as otp or marketing. Leave empty for all.',
    allTypes: 'All message types',
    alertsAt: (percents: string) => `At ${percents} percent`,
    alertsAbout: 'Percentages of usage that trigger an event, separated by commas.',
    moreGroup: 'More',
    priority: (priority: string) => `Priority ${priority}`,
    priorityAbout: '0 to 255; lower is used first.',
    /** Of settings that are a text. */
    aboutTexts: {
      external_ref: 'The id in your own systems. The user can read it.',
    },
    alreadyUsed: 'Already used',
    alreadyUsedAbout: 'Units of the current window that were used elsewhere.',
    metadataAbout: (max: number) => `Custom data for your own systems, up to ${max} keys. The user does not see it.`,
    key: 'Key',
    value: 'Value',
    keyOf: (row: number) => `Key ${row}`,
    valueOf: (row: number) => `Value ${row}`,
    removeKey: (row: number) => `Remove key ${row}`,
    addKey: 'Add a key',
    keyTwice: (key: string) => `The key “${key}” is used twice.`,
    openQuota: (id: number) => `Open quota ${id}`,
    earlier: (link: (text: string) => ReactNode) => (
      <>
        An earlier request of this form already created a quota with different values. Check the{' '}
        {link('quotas of this user')}, or create another one.
      </>
    ),
    createAnother: 'Create another quota',
    /** What a field accepts, shown when the service refuses its value. */
    errors: {
      user_id: 'Enter the id of a user: a whole number.',
      limit: `Enter a whole number from 0 to ${formatUnits(10 ** 12)}.`,
      name: 'Use at most 120 characters.',
      per: 'The service keeps recipients and tags as keyed hashes only: it needs the setting SECRETS_KEY for them.',
      anchor: 'Choose a day of the list.',
      time_zone: 'Choose a time zone of the list.',
      rollover_limit: `Enter a whole number from 0 to ${formatUnits(10 ** 12)}.`,
      overage_limit: `Enter a whole number from 0 to ${formatUnits(10 ** 12)}.`,
      starts_at: 'Enter a date and a time. A start that has passed cannot be changed.',
      expires_at: 'Enter a date and a time after the start.',
      countries: 'Choose countries of the list.',
      message_types: 'A type has up to 64 of these characters: a–z, 0–9, _ and -.',
      alert_at: 'Enter percentages from 1 to 100, each once, such as 80, 100.',
      priority: 'Enter a whole number from 0 to 255.',
      external_ref: 'Use at most 120 characters.',
      metadata: 'A key has up to 64 of these characters: A–Z, a–z, 0–9, _ . : and -. A value has up to 512 characters.',
      opening_used: `Enter a whole number from 0 to ${formatUnits(10 ** 12)}.`,
    },
  },

  preview: {
    title: 'Preview',
    empty: 'Enter a limit to see a description of the quota.',
    unknownZone: (zone: string) => `This browser does not know the time zone ${zone}.`,
    noWindow: 'It expires before it starts.',
    /** @param local the user's time zone @param zone the time zone of the quota, if it is another one */
    caption: (count: number, local: string, zone: string | null) =>
      `${count === 1 ? 'Window' : `Next ${count} windows`}, ${zone === null ? `times in ${local}` : `times in ${zone} and below in ${local}`}`,
    from: 'From',
    until: 'Until',
    noEnd: 'No end',
  },

  merge: {
    title: 'This quota was changed by someone else',
    about: (actor: ReactNode, theirs: number, at: ReactNode, mine: number) => (
      <>
        {actor} saved version {theirs} on {at}. Your changes are based on version {mine} and are not saved yet.
      </>
    ),
    nothing: 'Their version already has your changes. There is nothing to save.',
    by: { me: 'Changed by you', them: 'Changed by them', both: 'Changed by both: choose one' },
    mine: 'Keep mine',
    theirs: 'Use theirs',
    save: (version: number) => `Save over version ${version}`,
    discard: 'Discard my changes',
    undecided: 'Choose a value for each setting changed by both.',
  },

  history: {
    label: 'Changes',
    empty: 'No changes',
    emptyHint: 'Changes by administrators appear here.',
    actions: {
      created: 'Created',
      updated: 'Changed',
      adjusted: 'Limit adjusted',
      suspended: 'Suspended',
      resumed: 'Resumed',
      deleted: 'Deleted',
    },
    unusedUnitsLost: (units: number) => `${formatUnits(units)} unused ${units === 1 ? 'unit' : 'units'} lost`,
    by: (action: ReactNode, actor: ReactNode) => (
      <>
        {action} by {actor}
      </>
    ),
    version: (version: number) => `Version ${version} · request`,
  },

  windows: {
    label: 'Past windows',
    empty: 'No past windows',
    emptyHint: 'Windows with usage appear here after they end.',
    from: 'From',
    until: 'Until',
    usage: 'Usage',
    limit: 'Limit',
    rolledIn: 'Rolled over in',
    rolledOut: 'Rolled over out',
    lapsed: 'Expired unused',
  },

  description,
}
