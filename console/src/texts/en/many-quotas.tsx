import { formatUnits } from '../../formats.ts'
import { capitalized } from '../by-period.ts'
import { eachPeriod } from './periods.ts'

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
    everyWindowAbout: 'Changes the limit, now and in all later periods.',
    thisWindow: { any: 'This period only', ...eachPeriod(({ current }) => `${capitalized(current)} only`) },
    thisWindowAbout:
      'Each user gets these units beside the grant, for the same messages. What is not used when the grant next resets expires.',
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
      `${formatUnits(count)} ${count === 1 ? 'user grant' : 'grants'} would get ${formatUnits(units)} units more until they next reset.`,
    unchanged: (count: number) => `${quotasOf(count)} already ${count === 1 ? 'is' : 'are'} so.`,
    /** Why a quota does not fit the change. */
    unfit: {
      adjust: `It has no limit, or the new limit would not be from 0 to ${formatUnits(10 ** 12)}.`,
      extend: 'It never ends, or the new end would be before its start or after the year 9999.',
    },
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
    would: {
      created: (count: number) => `${formatUnits(count)} would be created`,
      updated: (count: number) => `${formatUnits(count)} would be updated`,
    },
    failures: 'What cannot be changed',
    place: 'Where',
    reason: 'Why',
    showMore: (count: number) => `Show ${formatUnits(count)} more`,
    notListed: 'The service lists the first 1,000 failures of a call. Correct these, and try again.',
    ofColumn: (column: string, rule: string) => `Column ${column}: ${rule}`,
    first: (entries: string, places: string) => `${entries}: ${places}; …`,
    entries: (count: number) => `${formatUnits(count)} entries`,
    placeDetail: (place: string, detail: string) => `${place}: ${detail}`,
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
    about: 'Quotas to create and update, and users who get a plan or more units.',
    drop: 'Drop a CSV file here, or choose one',
    choose: 'Choose a file',
    tooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB. Use the command sms-quota import.`,
    notUtf8: (line: number) =>
      `Line ${line} is not UTF-8. Save the file as “CSV UTF-8”, or choose below how it was saved.`,
    encoding: 'Saved as',
    chooseEncoding: 'Choose an encoding',
    notRead: 'The file cannot be read.',
    faults: {
      unclosed_quote: (line: number) => `Line ${line}: a quotation mark is not closed.`,
      text_after_quote: (line: number) =>
        `Line ${line}: text follows the quotation mark that ends a cell. Within such a cell, a quotation mark is written twice.`,
      quote_after_blank: (line: number) =>
        `Line ${line}: a cell begins with a blank and a quotation mark. Remove the blank.`,
      unknown_separator: (line: number) =>
        `Line ${line}: sep= names the separator, a comma, a semicolon, a tab or a vertical bar.`,
      too_long: (line: number) => `Line ${line} is too long.`,
    },
    noRows: 'The file has no rows.',
    unknownColumns: (columns: string, known: string) => `Unknown columns: ${columns}. Known are: ${known}.`,
    twice: (column: string) => `The column ${column} is there twice.`,
    neededColumns:
      'Each line needs user_id, external_ref and limit, or user_id and the id of a quota or a plan. For more units, the file needs a column such as user_id or customer.',
    tooManyCells: (cells: number, columns: number) => `It has ${cells} cells, and the header has ${columns} columns.`,
    namelessColumn: (column: number) => `It has a value in column ${column}, which has no name.`,
    unreadable: 'It is not UTF-8.',
    lost: 'It is what a spreadsheet shows in place of a value:',
    repeated: 'It is about the same quota, or the plan of the same user, as an earlier line:',
    asLine: (line: number) => `line ${line}.`,
    file: (name: string, rows: number) => `${name}: ${formatUnits(rows)} ${rows === 1 ? 'line' : 'lines'}`,
    another: 'Choose another file',
    importRows: {
      quotas: (rows: number) => `Import ${formatUnits(rows)} ${rows === 1 ? 'quota' : 'quotas'}`,
      plans: (rows: number) => (rows === 1 ? 'Give a plan to 1 user' : `Give plans to ${formatUnits(rows)} users`),
      both: (rows: number) => `Import ${formatUnits(rows)} ${rows === 1 ? 'line' : 'lines'}`,
    },
    importRest: (rows: number) => `Import the other ${formatUnits(rows)}`,
    nothing: {
      quotas: 'All quotas already are as the file says.',
      plans: 'All users already have these plans.',
      both: 'All quotas and plans already are as the file says.',
    },
    toQuotas: 'To the list of quotas',
    toExtras: 'Show all extra units',
  },
  give: {
    heading: (users: number) => `More units for ${formatUnits(users)} ${users === 1 ? 'user' : 'users'}`,
    units: 'Units for each user',
    unitsOfFile: 'The file says how many units each user gets.',
    period: 'Which grant of each user',
    periods: {
      ...eachPeriod(({ adjective }) => `The ${adjective} grant`),
      once: 'The one-time grant (prepaid pack)',
    },
    dateAbout: 'The preview shows when it ends.',
    onceAbout: 'Each user gets a one-time grant of these units for the same messages.',
    onceEnds: { pack: 'As long as the pack', month: 'Until the end of this month' },
    onceEndsAbout: {
      pack: 'The units end with the pack, or never if it does not end.',
      month: 'The month ends in the time zone of most monthly grants of the file; without any, in UTC.',
    },
    repeatable: 'To do this again with the same file would raise the limits again.',
    repeatSafe:
      'The same units for the same reason are given once in each period, also if the file is chosen again. With another reason you are asked first.',
    find: 'Preview (changes nothing)',
    finding: (done: number, of: number) => `Searching: ${formatUnits(done)} of ${formatUnits(of)} users`,
    why: {
      no_quota: 'Has no quota at all, or is unknown to the service. Check the id.',
      only_caps: 'Has only caps, no grant.',
      only_one_time: 'Has only a one-time grant (prepaid pack), which does not reset.',
      unlimited: 'Has an unlimited grant already.',
      notLive: (status: string, toDo = '') => `The grant does not count now: ${status}.${toDo}`,
      toDo: { suspended: ' Resume the grant first.', scheduled: ' Give the units when it has started.' },
      other_period: 'Has a grant for another period.',
      had_before: 'Got these units for this reason before.',
      got_others: 'Already got units.',
      twice: (user: string, line: string) => `User ${user}, as in line ${line}`,
      named: (name: string) => `“${name}”`,
      grantOf: (name: string, which: string) => `“${name}” (${which})`,
      on: (at: string) => `(${at})`,
    },
    offer: (users: number, which: string) =>
      `Also give units to ${formatUnits(users)} ${users === 1 ? 'user' : 'users'} with another grant: ${which.charAt(0).toLowerCase()}${which.slice(1)}`,
    /** Beside an offer of units that are grants of their own. */
    stays: 'They are added beside that grant, which stays as it is.',
    previewOthers: (users: number, which: string) =>
      `Preview for the ${formatUnits(users)} left out: ${which.charAt(0).toLowerCase()}${which.slice(1)}`,
    /** How long the units last, beside the button that gives them. */
    lasting: {
      forGood: 'The units come again in every period, until the limit is lowered.',
      never: 'The units never end: they last until they are used.',
      until: (at: string, zone: string) => `The units last until ${at} (${zone}).`,
      between: (first: string, last: string, zone: string) =>
        `The units last as long as each user’s grant: the first ends on ${first}, the last on ${last} (${zone}).`,
      monthIn: (zone: string) => `This is the end of the month in the time zone ${zone}.`,
      someNever: (users: number) =>
        `For ${formatUnits(users)} of the users they never end, because the grant does not.`,
      someForGood: (users: number) =>
        `For ${formatUnits(users)} of the users they come again in every period, until the limit is lowered.`,
    },
    allOfFile: (users: number) => `Back to all ${formatUnits(users)} users of the file`,
    during: { ...eachPeriod(({ current }) => ` ${current}`), once: '' },
    given: (units: number, on: string) => `${formatUnits(units)} units on ${on}`,
    alreadyGot: (users: number, when: string, given: string, reason: string) =>
      `${formatUnits(users)} of these users already got units${when}: ${given}${reason === '' ? '' : `, for “${reason}”`}.`,
    alreadyGotUnits: (users: number, when: string) => `${formatUnits(users)} of these users already got units${when}:`,
    earlier: (users: number, given: string, reason: string) =>
      `${formatUnits(users)} ${users === 1 ? 'user' : 'users'}: ${given}${reason === '' ? '' : `, for “${reason}”`}`,
    moreEarlier: (count: number) => `and ${formatUnits(count)} more`,
    decide: 'What about them?',
    decideFirst: 'First choose above what happens to those who already got units.',
    leaveThem: (users: number) => `Leave ${users === 1 ? 'this user' : `these ${formatUnits(users)}`} out`,
    giveAgain: (users: number) => `Give units to ${users === 1 ? 'this user' : `these ${formatUnits(users)}`} again`,
    again: (users: number) => `${formatUnits(users)} of them ${users === 1 ? 'gets' : 'get'} units again.`,
    note: {
      several: 'Has several fitting grants: the one that pays first gets the units.',
      has_extra: 'Already has extra units.',
      capReached: 'A cap is used up: the units cannot be used before it resets or is raised.',
      capSome: 'A cap stops some of the units.',
      capNone: 'A cap stops all of the units: they add nothing.',
      /** What a cap lets pass before the added units end, what else ends by then, and how many of the added ones that leaves. */
      passes: (
        cap: string,
        {
          isUntilEnd,
          capacity,
          ending,
          usable,
          units,
        }: { isUntilEnd: boolean; capacity: number; ending: number; usable: number; units: number },
      ) =>
        `${isUntilEnd ? 'Until the units end' : 'From now on'}, ${cap} lets ${capacity === 0 ? 'none' : `about ${formatUnits(capacity)}`} pass${ending === 0 ? '' : `, and ${formatUnits(ending)} are there already`}${usable === 0 ? '' : `: at most about ${formatUnits(usable)} of the ${formatUnits(units)} can be used`}.`,
      has: (cap: string) => `The user has ${cap}.`,
      isUsedUp: 'It is used up now.',
      anotherUnlimited: 'Another grant is unlimited.',
      caps: {
        ...eachPeriod(
          ({ withArticle }) =>
            (units: string) =>
              `${withArticle} cap of ${units} units`,
        ),
        once: (units: string) => `a cap of ${units} units in all`,
      },
    },
    not_a_user: 'Not a user id:',
    not_units: 'Not a number of units from 1:',
    too_many_cells: 'Has more cells than the header:',
    twice: 'Is there twice:',
    unitsEach: (units: number) => `${formatUnits(units)} units each`,
    /** What each of several users gets, and the sum. */
    withSum: (each: string, sum: number) => `${each} (${formatUnits(sum)} in all)`,
    unitsInAll: (units: number) => `${formatUnits(units)} units in all`,
    until: (at: string, zone: string) => `until ${at} (${zone})`,
    untilOwnEnd: 'until each user’s own period ends',
    untilAnyEnd: 'until each user’s own period ends, for those that have one',
    withoutEnd: 'without an end',
    fromNowOn: 'from now on',
    partlyFromNowOn: (until: string) => `some from now on, some ${until}`,
    noUser: 'No user gets units.',
    /** @param of how many the file has */
    would: (users: number, of: number, units: string, until: string, reason: string) =>
      `${formatUnits(users)}${users === of ? '' : ` of ${formatUnits(of)}`} ${of === 1 ? 'user gets' : users === 1 ? 'users gets' : 'users get'} ${units}, ${until}. Reason: ${reason}`,
    received: (users: number, units: string, until: string) =>
      `${formatUnits(users)} ${users === 1 ? 'user' : 'users'} received ${units} ${until}.`,
    outcome: (failed: number, left: number) => `${formatUnits(failed)} failed, ${formatUnits(left)} left out.`,
    gifts: (shown: number, of: number) =>
      shown === of ? 'Who gets units' : `Who gets units: the first ${formatUnits(shown)} of ${formatUnits(of)}`,
    /** The limit with units that were added before, and with those that would be. */
    gift: { user: 'User', grant: 'Grant', limit: 'Limit now', total: 'With the units', end: 'Units end' },
    report: {
      columns: [
        'line',
        'user',
        'result',
        'why',
        'grant',
        'units',
        'units end',
        'time zone',
        'result code',
        'reference of the units',
      ],
      results: {
        would: 'would receive',
        received: 'received',
        left: 'left out',
        failed: 'failed',
        unknown: 'not certain: not finished',
      },
      never: 'never',
      limitRaised: 'never (limit raised)',
    },
    left: (count: number) => `${formatUnits(count)} ${count === 1 ? 'line is' : 'lines are'} left out.`,
    leftOut: 'Who is left out',
    user: (user: number) => `User ${user}`,
    notes: 'Please note',
    capped: (users: number, of: number, none: number) =>
      `${formatUnits(users)} of ${formatUnits(of)} ${of === 1 ? 'user' : 'users'} ${users === 1 ? 'has' : 'have'} a cap that stops some of the units${none === 0 ? '' : `; for ${formatUnits(none)} of them they add nothing`}. The list is below.`,
    confirm: (users: number) => `Give the units to ${formatUnits(users)} ${users === 1 ? 'user' : 'users'}`,
    undo: {
      later: (name: string) =>
        `Later, the grants are found in the list of quotas by their name, “${name}…”. Those that are not used can be deleted there.`,
      title: 'Undo this import',
      stayRaised: (users: number) =>
        `The limits of ${formatUnits(users)} ${users === 1 ? 'user' : 'users'} that were raised stay as they are.`,
      kept: (count: number) => `${formatUnits(count)} ${count === 1 ? 'grant is' : 'grants are'} kept.`,
      touched: 'Units of it are used or reserved:',
      units: (units: string, limit: string) => `${units} of ${limit}`,
      none: 'No grant of this import is left that could be deleted.',
    },
    tooMany: (max: number) => `The file names more than ${formatUnits(max)} users. Divide it.`,
  },
}
