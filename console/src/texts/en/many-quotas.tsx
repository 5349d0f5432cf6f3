import { formatUnits } from '../../formats.ts'

const quotasOf = (count: number) => `${formatUnits(count)} ${count === 1 ? 'quota' : 'quotas'}`

/** Changes of many quotas, and files of them. */
export const manyQuotas = {
  bulk: {
    titles: {
      adjust: 'Adjust the selected quotas',
      extend: 'Move the end of the selected quotas',
      suspend: 'Suspend the selected quotas',
      resume: 'Resume the selected quotas',
      delete: 'Delete the selected quotas',
    },
    direction: 'Add or remove units',
    add: 'Add units',
    remove: 'Remove units',
    units: 'Units',
    unitsHint: 'A whole number from 1',
    windows: 'For how long',
    everyWindow: 'From now on',
    everyWindowAbout: 'Changes the limit, in this window and all later ones.',
    thisWindow: 'This window only',
    thisWindowAbout:
      'Each user gets a grant of these units for the same messages. It ends with the current window of the quota.',
    reason: 'Reason',
    reasonAbout: 'Shown in the history.',
    end: 'How to move the end',
    ends: { by: 'By a time', to: 'To a day', never: 'Never ends' },
    by: 'Later by',
    byHint: 'A whole number from 1 to 999',
    unit: 'Unit of time',
    durations: { D: 'days', W: 'weeks', M: 'months', Y: 'years' },
    day: 'Ends at the beginning of',
    dayHint: 'Choose a day',
    preview: 'Show what would change',
    back: 'Back',
    cancel: 'Cancel',
    would: {
      adjust: (count: number) => `The limit of ${quotasOf(count)} would change.`,
      extend: (count: number) => `The end of ${quotasOf(count)} would move.`,
      suspend: (count: number) => `${quotasOf(count)} would be suspended.`,
      resume: (count: number) => `${quotasOf(count)} would count again.`,
      delete: (count: number) => `${quotasOf(count)} would be deleted. This cannot be undone.`,
    },
    wouldAddExtra: (count: number, units: number) =>
      `${formatUnits(count)} ${count === 1 ? 'user grant' : 'grants'} would get ${formatUnits(units)} units more for the current window.`,
    unchanged: (count: number) => `${quotasOf(count)} already ${count === 1 ? 'is' : 'are'} so.`,
    wouldFail: (count: number) => `${quotasOf(count)} cannot be changed:`,
    leftOut: (count: number) => `${quotasOf(count)} ${count === 1 ? 'is' : 'are'} left out:`,
    liftsCaps: (count: number) =>
      count === 1
        ? 'One of them is a cap: its limit is lifted, and its user can send as much as the grants allow.'
        : `${formatUnits(count)} of them are caps: their limits are lifted, and their users can send as much as the grants allow.`,
    raisesCaps: (count: number) =>
      count === 1
        ? 'One of them is a cap: its user gets no units, but a higher ceiling.'
        : `${formatUnits(count)} of them are caps: their users get no units, but a higher ceiling.`,
    samples: (shown: number, of: number) =>
      shown === of ? 'What would change' : `What would change: the first ${formatUnits(shown)} of ${formatUnits(of)}`,
    change: 'Change',
    difference: (label: string, before: string, after: string) => `${label}: ${before} → ${after}`,
    typeCount: (count: number) => `Type ${count} to confirm`,
    confirm: {
      adjust: (count: number) => `Adjust ${quotasOf(count)}`,
      extend: (count: number) => `Move the end of ${quotasOf(count)}`,
      suspend: (count: number) => `Suspend ${quotasOf(count)}`,
      resume: (count: number) => `Resume ${quotasOf(count)}`,
      delete: (count: number) => `Delete ${quotasOf(count)}`,
    },
    tooMany: (count: number) => `More than ${quotasOf(count)} match. Choose narrower filters.`,
  },
  extra: {
    name: (of: string) => `Extra units for ${of}`,
    notAGrant: 'A cap has no units of its own.',
    unlimited: 'It is unlimited already.',
    oneTime: 'It is one-time: adjust its limit instead.',
    notLive: 'It does not count now.',
  },
  jobs: {
    states: {
      running: 'Changing… Keep this page open.',
      waiting: 'Waiting for the service…',
      paused: 'Stopped. What was changed stays changed; “Continue” changes nothing twice.',
      failed: 'Interrupted. What was changed stays changed; “Continue” changes nothing twice.',
      done: 'Done.',
    },
    dryRunStates: {
      running: 'Checking…',
      waiting: 'Waiting for the service…',
      paused: 'Stopped. Nothing was changed.',
      failed: 'Interrupted. Nothing was changed.',
      done: 'Checked. Nothing was changed yet.',
    },
    progress: (done: number, total: number) => `${formatUnits(done)} of ${formatUnits(total)}`,
    waiting: (reason: string) => `${reason} Trying again…`,
    counts: {
      created: (count: number) => `${formatUnits(count)} created`,
      updated: (count: number) => `${formatUnits(count)} updated`,
      changed: (count: number) => `${formatUnits(count)} changed`,
      unchanged: (count: number) => `${formatUnits(count)} unchanged`,
      failed: (count: number) => `${formatUnits(count)} failed`,
    },
    failures: 'What cannot be changed',
    place: 'Where',
    reason: 'Why',
    showMore: (count: number) => `Show ${formatUnits(count)} more`,
    notListed: 'The service lists the first 1,000 failures of a call. Correct these, and try again.',
    quotaOfUser: (quota: number, user: number | null) =>
      user === null ? `Quota ${quota}` : `Quota ${quota} of user ${user}`,
    line: (line: number) => `Line ${line}`,
    column: (place: string, column: string) => `${place}, column ${column}`,
    brokenOff: 'The answer of the service broke off.',
    stop: 'Stop',
    continue: 'Continue',
    report: 'Download report',
    close: 'Close',
    total: (done: number) => `Total: ${formatUnits(done)}`,
  },
  importing: {
    title: 'Import from CSV',
    about: 'Quotas to create and update, or users who get more units.',
    drop: 'Drop a CSV file here, or choose one',
    choose: 'Choose a file',
    quotasHint:
      'With the columns user_id, external_ref and limit, each line is a quota: a known reference is updated, another one created.',
    usersHint: (users: string, units: string) =>
      `To give users more units, give a column of user ids one of the names ${users}. If the units differ, add a column with one of the names ${units}. Other columns are ignored. For example:`,
    tooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB. Use the command sms-quota import.`,
    notUtf8: 'The file is not UTF-8. Save it as “CSV UTF-8”.',
    unclosedQuote: (line: number) => `Line ${line}: a quotation mark is not closed.`,
    noRows: 'The file has no rows.',
    unknownColumns: (columns: string, known: string) => `Unknown columns: ${columns}. Known are: ${known}.`,
    twice: (column: string) => `The column ${column} is there twice.`,
    neededColumns:
      'Each line needs user_id, external_ref and limit. For more units, the file needs a column such as user_id or customer.',
    tooManyCells: (cells: number, columns: number) => `It has ${cells} cells, and the header has ${columns} columns.`,
    file: (name: string, rows: number) => `${name}: ${formatUnits(rows)} ${rows === 1 ? 'line' : 'lines'}`,
    another: 'Choose another file',
    importRows: (rows: number) => `Import ${formatUnits(rows)} ${rows === 1 ? 'quota' : 'quotas'}`,
    importRest: (rows: number) => `Import the other ${formatUnits(rows)}`,
    nothing: 'All quotas already are as the file says.',
    toQuotas: 'To the list of quotas',
  },
  topUp: {
    heading: (users: number) => `More units for ${formatUnits(users)} ${users === 1 ? 'user' : 'users'}`,
    units: 'Units for each user',
    unitsOfFile: 'The file says how many units each user gets.',
    period: 'Which grant of each user',
    periods: {
      hour: 'The hourly grant',
      day: 'The daily grant',
      week: 'The weekly grant',
      month: 'The monthly grant',
      year: 'The yearly grant',
      once: 'The one-time grant (prepaid pack)',
    },
    dateAbout: 'The preview shows when it ends.',
    onceAbout:
      'Each user gets a one-time grant of these units for the same messages. It ends with the pack, or never if the pack does not end.',
    repeatable: 'To do this again with the same file would raise the limits again.',
    repeatSafe:
      'The same units for the same reason are given once in each window. To give them a second time, change the reason.',
    find: 'Preview (changes nothing)',
    finding: (done: number, of: number) => `Searching: ${formatUnits(done)} of ${formatUnits(of)} users`,
    why: {
      noQuota: 'Has no quota at all, or is unknown to the service. Check the id.',
      onlyCaps: 'Has only caps, no grant.',
      onlyOneTime: (name: string) => `Has only one-time grants, such as “${name}”. Choose “The one-time grant” for it.`,
      unlimited: (name: string) => `“${name}” is unlimited already.`,
      notLive: (name: string, status: string) => `“${name}” does not count now: ${status}.`,
      otherPeriod: (name: string, which: string) => `Has another period: “${name}” (${which}).`,
      hadBefore: (at: string) =>
        `Received these units for this reason before (${at}). To give them a second time, change the reason.`,
    },
    notAUser: (text: string) => `“${text}” is not a user id.`,
    notUnits: (text: string) => `“${text}” is not a number of units from 1.`,
    twice: (user: number) => `User ${user} is there twice.`,
    several: (count: number, name: string) => `Has ${count} fitting grants: “${name}” pays first and gets the units.`,
    hasExtra: (units: string, at: string, reason: string) =>
      `Already has ${units} extra units (added ${at}${reason === '' ? '' : `: ${reason}`}).`,
    unitsEach: (units: number) => `${formatUnits(units)} units each`,
    unitsInAll: (units: number) => `${formatUnits(units)} units in all`,
    until: (at: string, zone: string) => `until ${at} (${zone})`,
    untilOwnEnd: 'until the end of each user’s window',
    withoutEnd: 'without an end',
    fromNowOn: 'from now on',
    nobody: 'Nobody gets units.',
    would: (users: number, units: string, until: string, reason: string) =>
      `${formatUnits(users)} ${users === 1 ? 'user gets' : 'users get'} ${units}, ${until}. Reason: ${reason}`,
    received: (users: number, units: string, until: string) =>
      `${formatUnits(users)} ${users === 1 ? 'user' : 'users'} received ${units} ${until}.`,
    outcome: (failed: number, left: number) => `${formatUnits(failed)} failed, ${formatUnits(left)} left out.`,
    samples: (shown: number, of: number) =>
      shown === of ? 'Who gets units' : `Who gets units: the first ${formatUnits(shown)} of ${formatUnits(of)}`,
    sample: { user: 'User', grant: 'Grant', limit: 'Limit', total: 'With the units', end: 'Units end' },
    report: {
      columns: ['line', 'user', 'result', 'why', 'grant', 'units', 'end'],
      results: {
        would: 'would receive',
        received: 'received',
        left: 'left out',
        failed: 'failed',
        unknown: 'not certain: not finished, or too many failures to list',
      },
    },
    left: (count: number) => `${formatUnits(count)} ${count === 1 ? 'line is' : 'lines are'} left out:`,
    user: (user: number) => `User ${user}`,
    notes: 'Please note',
    confirm: (users: number) => `Give the units to ${formatUnits(users)} ${users === 1 ? 'user' : 'users'}`,
    tooMany: (max: number) => `The file names more than ${formatUnits(max)} users. Divide it.`,
  },
}
