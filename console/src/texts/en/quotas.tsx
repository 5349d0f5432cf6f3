import { formatUnits } from '../../formats.ts'
import { eachPeriod } from './periods.ts'

const quotasOf = (count: number) => `${formatUnits(count)} ${count === 1 ? 'quota' : 'quotas'}`

/** The list of quotas, and changes to many. */
export const quotas = {
  title: 'Quotas',
  about: 'Grants and caps of all users.',
  create: 'New quota',
  import: 'Import, give units (CSV)',
  columns: {
    name: 'Quota',
    id: 'Id',
    user: 'User',
    status: 'Status',
    usage: 'Usage',
    remaining: 'Remaining',
    limit: 'Limit',
    scope: 'Scope',
    window_end: 'Resets',
    expires_at: 'Ends',
    external_ref: 'Reference',
    plan: 'Plan',
    created_at: 'Created',
    actions: 'Actions',
  },
  /** How customers read the kinds of their own quotas. */
  ownKinds: { grant: 'Package', cap: 'Limit' },
  oneTime: 'one-time',
  each: eachPeriod(({ noun }) => `each ${noun}`),
  raised: (to: number, until: string, from: number) =>
    `Raised to ${formatUnits(to)} until ${until}, then ${formatUnits(from)} again`,
  follows: (from: string) => `From ${from}, after the raised limit`,
  rolledOver: (units: number) => `+ ${formatUnits(units)} rolled over`,
  doesNotReset: 'Does not reset',
  never: 'Never',
  scope: { everything: 'Everything', more: (count: number) => `${formatUnits(count)} more` },
  filters: {
    toggle: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
    openUser: (id: number) => `Open user ${id}`,
    name: { label: 'Name', all: 'Begins with…' },
    reference: { label: 'Reference', all: 'Exactly…' },
    status: { label: 'Status', all: 'All except deleted' },
    kind: { label: 'Kind', all: 'Grants and caps' },
    kinds: { grant: 'Grants', cap: 'Caps' },
    ends: { label: 'Ends', all: 'At any time' },
    endsWithin: { 1: 'Within a day', 7: 'Within 7 days', 30: 'Within 30 days', 90: 'Within 90 days' },
    messageType: { label: 'Message type', all: 'Such as otp', error: 'Lower case letters, digits, _ and -' },
    plan: 'Plan',
    allPlans: 'All quotas',
    planOf: (id: number) => `Plan ${id}`,
    planVersion: (plan: string, version: number) => `${plan}, version ${version}`,
    rows: 'Rows',
  },
  options: {
    open: 'Columns',
    label: 'Columns of the table',
    reset: 'Reset',
  },
  views: {
    label: 'Views',
    all: 'All',
    endsThisWeek: 'Ends this week',
    suspended: 'Suspended',
    exhausted: 'Exhausted',
    scheduled: 'Scheduled',
    caps: 'Caps',
    save: 'Save this view',
    name: 'Name of the view',
    nameTaken: 'A view already has this name',
    confirm: 'Save',
    cancel: 'Cancel',
    remove: (name: string) => `Remove the view ${name}`,
    full: (count: number) => `This browser keeps ${count} views. Remove one first.`,
  },
  selection: {
    label: 'Selection',
    select: (name: string) => `Select ${name}`,
    selectPage: 'Select this page',
    selected: (count: number) => `${quotasOf(count)} selected`,
    allSelected: (count: number | null) =>
      count === null
        ? 'All quotas that match the filters are selected'
        : `All ${quotasOf(count)} that match are selected`,
    selectAll: (count: number | null) =>
      count === null ? 'Select all that match' : `Select all ${formatUnits(count)} that match`,
    clear: 'Clear selection',
  },
  bulkButtons: {
    adjust: 'Adjust…',
    extend: 'Move the end…',
    suspend: 'Suspend…',
    resume: 'Resume…',
    delete: 'Delete…',
  },
  actions: {
    of: (name: string) => `Actions for ${name}`,
    open: 'Open',
    adjust: 'Adjust',
    suspend: 'Suspend',
    resume: 'Resume',
    duplicate: 'Duplicate',
    delete: 'Delete',
    resumed: (name: string) => `${name} counts again.`,
  },
  unfinished: {
    about: (count: number) =>
      `A change of ${quotasOf(count)} was interrupted. What was changed stays changed; going on changes nothing twice.`,
    proceed: 'Continue',
    dismiss: 'Dismiss',
  },
  empty: {
    title: 'No quotas',
    goOn: 'None among the quotas searched so far. Go on with “Next”.',
    pastEnd: 'This page is past the end of the list.',
    noMatch: 'No quota matches these filters.',
    unknownUser: (id: number) => `User ${id} is unknown or has no quotas. Check the id.`,
    createFirst: 'Create the first one with “New quota”.',
  },
  atLeast: (count: number) => `At least ${quotasOf(count)} match.`,
  pages: { first: 'First', next: 'Next' },
  exporting: {
    button: 'Export CSV',
    running: (count: number) => `${quotasOf(count)} exported…`,
    done: (count: number) => `${quotasOf(count)} exported.`,
    cancel: 'Stop the export',
  },
}
