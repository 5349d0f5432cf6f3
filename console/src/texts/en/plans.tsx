import type { ReactNode } from 'react'
import type { PlanFields } from '../../../../src/domain/plans/plan-fields.ts'
import { formatList, formatUnits } from '../../formats.ts'

const users = (count: number) => `${formatUnits(count)} ${count === 1 ? 'user' : 'users'}`
const quotas = (count: number) => `${formatUnits(count)} ${count === 1 ? 'quota' : 'quotas'}`

/** Plans: quotas that users get as a whole. */
export const plans = {
  list: {
    title: 'Plans',
    about: 'Quotas that users get as a whole, and a later version of them.',
    create: 'New plan',
    show: 'Show',
    shown: { false: 'Plans in use', true: 'Archived plans' },
    none: 'No plans yet',
    aboutNone:
      'A plan is written once, for example 100 units a month, at most 50 a day and 10 a day abroad, and given to any number of users. One plan can be the default, which new users get by themselves.',
    sample: 'Begin with a sample',
    noneArchived: 'No plan is archived',
    columns: { plan: 'Plan', version: 'Version', quotas: 'Quotas', changed: 'Last changed' },
  },
  isDefault: 'Default',
  isArchived: 'Archived',
  changedAt: (at: ReactNode, actor: ReactNode) => (
    <>
      {at} by {actor}
    </>
  ),
  /** Of a quota of a plan. */
  lasts: (days: number) => (days === 1 ? 'ends after a day' : `ends after ${formatUnits(days)} days`),

  page: {
    tabs: { label: 'Parts of the plan', overview: 'Overview', edit: 'Edit', history: 'History' },
    changed: (version: number, at: ReactNode) => (
      <>
        Version {version}, last changed {at}
      </>
    ),
    quotas: 'What users get',
    users: 'Who has it',
    columns: { version: 'Version', users: 'Users', quotas: 'Their quotas' },
    toQuotas: 'Open in the quota list',
    noUsers: 'No user has this plan',
    aboutNoUsers:
      'Give it on the page of a user, roll it out to the users of a list or of another plan, or make it the default.',
    aboutNewUsers:
      'New users get it with their first message. Give it to others on the page of a user, or roll it out to the users of a list or of another plan.',
    toImport: 'Give it to many users by a file',
    archived: 'It is given to no further user. Those who have it keep it, with their quotas.',
    archive: 'Archive…',
  },
  archival: {
    title: 'Archive this plan',
    about: (count: number) =>
      `No further user gets it. ${count === 0 ? 'No user has it.' : `${users(count)} ${count === 1 ? 'has' : 'have'} it and keep${count === 1 ? 's' : ''} it, with the quotas.`} This cannot be undone.`,
    aboutDefault: 'It is the default plan: new users get no plan then.',
    submit: 'Archive plan',
    close: 'Cancel',
  },

  form: {
    newTitle: 'New plan',
    newAbout: 'No user gets it until it is given, or is the default.',
    editAbout: 'A change of the name or the quotas makes a new version. What users have stays until it is rolled out.',
    name: 'Name',
    aboutName: 'Users see it.',
    isDefault: 'Default plan',
    aboutIsDefault:
      'A user who never had a quota gets it with the first message. One plan at most is the default: the one before is none any more.',
    quotas: 'Quotas',
    add: 'Add a quota',
    slot: 'Name within the plan',
    aboutSlot: 'A later version changes the quota with the same name; another name is another quota.',
    lasts: 'Lasts for days',
    aboutLasts: 'From when the user gets it. Empty: until it is taken away.',
    remove: 'Remove',
    removeOf: (slot: string) => `Remove the quota ${slot}`,
    incomplete: 'Enter a limit',
    create: 'Create plan',
    save: 'Save',
    cancel: 'Cancel',
    earlier: (link: (text: string) => ReactNode) => (
      <>
        An earlier request of this form already created a plan with different values. Check the {link('list of plans')},
        or create another one.
      </>
    ),
    createAnother: 'Create another plan',
    /** What a field accepts, shown when the service refuses its value. */
    errors: {
      name: 'Use 1 to 120 characters.',
      rate_card_id: 'Choose a rate card that is not archived.',
      slots: 'A plan has 1 to 20 quotas.',
      slot: 'Use up to 40 of these characters: a–z, 0–9, _ and -. Each quota of the plan has a name of its own.',
      lasts_days: 'Enter a whole number from 1 to 3,650, or nothing.',
    },
  },
  /** Quotas that a plan often has. */
  presets: {
    monthly: 'Monthly package',
    daily: 'Daily cap',
    abroad: 'Daily cap abroad',
    welcome: 'Units for the first days',
    other: 'Another quota',
  },
  sampleName: 'Basic',

  conflict: {
    title: 'This plan was changed by someone else',
    about: (actor: ReactNode, version: number, at: ReactNode) => (
      <>
        {actor} saved it on {at}; it now has version {version}. Your changes are not saved yet.
      </>
    ),
    theirs: 'What they changed',
    nothing: 'The plan already is as you want it.',
    both: (names: readonly string[]) => `You changed that, too, and yours replaces theirs: ${formatList(names)}.`,
    save: 'Save mine on top',
    discard: 'Discard my changes',
  },
  history: {
    fields: { name: 'Name', is_default: 'Default plan', rate_card_id: 'Prices' } satisfies Record<
      keyof PlanFields,
      string
    >,
    version: 'Version',
    yes: 'yes',
    no: 'no',
    added: (slot: string) => `${slot}, added`,
    removed: (slot: string) => `${slot}, removed`,
    setting: (slot: string, setting: string) => `${slot}, ${setting}`,
    lasts: 'days',
  },

  rollOut: {
    title: 'Roll out',
    upToDate: (version: number) => `All who have the plan have version ${version}.`,
    behind: (count: number, version: number) =>
      `${users(count)} ${count === 1 ? 'has' : 'have'} an earlier version than ${version}. Their quotas are as they were until it is rolled out.`,
    open: 'Roll out…',
    who: 'Who gets it',
    allEarlier: (count: number) => `All who have an earlier version (${formatUnits(count)})`,
    oneVersion: (version: number, count: number) => `Those who have version ${version} (${formatUnits(count)})`,
    ofPlan: (name: string) => `Those who have the plan “${name}”`,
    listed: 'Users of a list',
    list: 'Users',
    listAbout:
      'Ids, or ref: and references, with blanks, commas or line breaks between them. They get the plan whichever they have, also without one.',
    notAUser: (text: string) => `“${text}” is neither an id, nor ref: and a reference.`,
    noUsers: 'Enter the users.',
    listExample: '7, 1042, ref:shop-01',
    /** @param more how many others are not named */
    unknownReferences: (refs: readonly string[], more: number) =>
      `No user has ${refs.length === 1 ? 'the reference' : 'the references'} ${formatList(more === 0 ? refs : [...refs, `${formatUnits(more)} more`])}. Give it to a user under Profile, on the page of the user, or take it out here.`,
    tooMany: (count: number) => `At most ${formatUnits(count)} users. For more, import a file of users and plans.`,
    reason: 'Reason',
    reasonAbout: 'Shown in the history of each quota that changes. May stay empty.',
    fresh: 'New quotas begin anew',
    freshAbout:
      'Otherwise a new quota begins with what an earlier one of the same name has used in a window that is still open, so that no user gets the same units twice.',
    preview: 'Preview',
    cancel: 'Cancel',
    back: 'Back',
    confirm: (count: number) => `Roll out to ${users(count)}`,
    /** The sentences of a preview. */
    words: {
      changed: (count: number) => `${users(count)} ${count === 1 ? 'changes' : 'change'}`,
      exhausted: (count: number) => `${formatUnits(count)} would be over their new limit`,
      carried: (count: number) =>
        `${users(count)} ${count === 1 ? 'keeps' : 'keep'} in a new quota what was used in the one before`,
      again: (count: number) => `${users(count)} ${count === 1 ? 'gets' : 'get'} used units again`,
      kept: (count: number) =>
        `${quotas(count)} ${count === 1 ? 'keeps a value that was' : 'keep values that were'} changed by hand`,
      unchanged: (count: number) => `${users(count)} already ${count === 1 ? 'has' : 'have'} all of it`,
      failed: (count: number) => `${users(count)} cannot get it`,
      made: (count: number) => `${quotas(count)} new`,
      changedQuotas: (count: number) => `${quotas(count)} changed, with what is used of them`,
      ended: (count: number) => `${quotas(count)} ended`,
    },
    aboutExhausted: (list: ReactNode, count: number) => (
      <>
        Nothing is taken back, but these users have nothing left in a quota until it resets: {list}
        {count > 0 && ` and ${formatUnits(count)} more`}.
      </>
    ),
    aboutUsed: {
      carried: (list: ReactNode, count: number) => (
        <>
          New quotas begin with what these users have used in a window that is still open: {list}
          {count > 0 && ` and ${formatUnits(count)} more`}.
        </>
      ),
      again: (list: ReactNode, count: number) => (
        <>
          These users get again what they have used in a window that is still open: {list}
          {count > 0 && ` and ${formatUnits(count)} more`}.
        </>
      ),
    },
    samples: (count: number) => `The first ${formatUnits(count)} who would change`,
    columns: { user: 'Users', change: 'What changes' },
    outcomes: { made: 'new', replaced: 'replaced by a new one' },
    slot: (name: string, changes: string) => `${name}: ${changes}`,
    field: (name: string, before: string, after: string) => `${name} ${before} → ${after}`,
    own: (name: string, value: string | undefined) => (value === undefined ? name : `${name} ${value}`),
    /** Of a quota with fields that were changed by hand. */
    keeps: (fields: readonly string[]) => `keeps ${formatList(fields)}`,
    onlyVersion: 'Only the version of the plan',
    endedOf: (count: number) => `${quotas(count)} ended`,
    user: (id: number) => `User ${id}`,
    progress: (changed: number, unchanged: number) =>
      `${users(changed)} changed${unchanged === 0 ? '' : ` · ${formatUnits(unchanged)} already had this version`}`,
    close: 'Close',
    unfinished: (count: number) =>
      `A roll-out to ${users(count)} was interrupted. Who got the plan keeps it; going on gives it to the others.`,
    proceed: 'Continue',
    dismiss: 'Dismiss',
  },

  ofUser: {
    label: 'Plan',
    none: 'No plan',
    has: (plan: ReactNode, version: number) => (
      <>
        Plan {plan}, version {version}
      </>
    ),
    newer: (version: number) => `version ${version} is newer`,
    kept: (quota: ReactNode, fields: readonly string[]) => (
      <>
        {quota} ({formatList(fields)})
      </>
    ),
    byHand: 'Changed by hand, and kept by later versions:',
    give: 'Give a plan…',
    change: 'Change…',
    take: 'Take away…',
    plan: 'Plan',
    current: (name: string, version: number) => `${name}, version ${version}`,
    choose: 'Choose a plan',
    noPlans: 'There are no plans yet.',
    newPlan: 'Make one',
    about:
      'The user gets all quotas of the plan. Those of the plan before end, or change where both have the same name; what is used of them stays used. Quotas of the user’s own stay beside them: grants add up, and every cap counts.',
    reset: 'Give up the values that were changed by hand',
    submit: 'Give plan',
    cancel: 'Cancel',
    /** @param carried how many of the new ones begin with what was used before */
    given: (name: string, made: number, changed: number, ended: number, carried: number) =>
      `Has “${name}” now: ${made} new${carried === 0 ? '' : ` (${carried} with what was used before)`}, ${changed} changed, ${ended} ended.`,
    titles: { give: 'Give a plan', take: 'Take the plan away' },
    aboutTake: (name: string) =>
      `The quotas of “${name}” end now. Quotas of the user's own stay. The user does not get the default plan again.`,
    submitTake: 'Take plan away',
    taken: 'The plan was taken away.',
  },
}
