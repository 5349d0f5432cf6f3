import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'

const counted = (count: number, one: string, many: string) => `${formatUnits(count)} ${count === 1 ? one : many}`
const units = (count: number) => counted(count, 'unit', 'units')

const perMessage = (count: number) => (count === 0 ? '' : ` + ${formatUnits(count)} a message`)

/** Rate cards: what messages cost in units, by destination. */
export const rates = {
  list: {
    title: 'Prices',
    about: 'Rate cards: how many units a segment of a message costs, by destination.',
    create: 'New card',
    none: 'No rate cards yet',
    aboutNone: 'Without a card, each segment costs one unit. A card can be the default, or that of a plan or a user.',
    columns: { card: 'Card', version: 'Version', lines: 'Lines', changed: 'Last changed' },
  },
  card: 'Rate card',
  cardOf: (id: number) => `Rate card ${id}`,
  isDefault: 'Default',
  isArchived: 'Archived',
  about: (version: number, at: ReactNode) => (
    <>
      Version {version}, last changed {at}
    </>
  ),
  by: (at: ReactNode, actor: ReactNode) => (
    <>
      {at} by {actor}
    </>
  ),
  /** Who has it. */
  has: (plans: number, users: number, isDefault: boolean) =>
    `${counted(plans, 'plan has', 'plans have')} it, and ${counted(users, 'user has', 'users have')} it as the card negotiated with them.${isDefault ? ' It is the default: users whose plan has no card have it, too.' : ''}`,
  give: 'Give it under Edit of a plan, or in the profile of a user.',
  archivedAbout: 'No plan and no user has it, and none can get it.',

  form: {
    newTitle: 'New rate card',
    newAbout: 'It charges one unit a segment until it has other prices.',
    editTitle: 'Edit the rate card',
    edit: 'Edit…',
    name: 'Name',
    isDefault: 'Default card',
    aboutIsDefault:
      'For users without a card of their own whose plan has none. One card at most is the default: the one before is none any more. Without a default, a segment of theirs costs one unit.',
    create: 'Create card',
    save: 'Save',
    errors: { name: 'Use 1 to 120 characters.' },
  },
  archival: {
    open: 'Archive…',
    title: 'Archive this rate card',
    about: 'No plan and no user can get it any more. Messages that it priced keep their price. This cannot be undone.',
    inUse: 'It cannot be archived yet. Give those who have it another card first, and make another one the default.',
    submit: 'Archive card',
    close: 'Cancel',
  },

  versions: {
    title: 'Versions',
    columns: { version: 'Version', state: 'State', from: 'From', lines: 'Lines', by: 'Set' },
    states: { holds: 'Holds now', upcoming: 'Upcoming', past: 'Past' },
  },
  lines: {
    title: (version: number) => `Prices of version ${version}`,
    prefix: { label: 'Prefix', all: 'All lines', error: 'The first 1 to 10 digits of numbers, such as 49' },
    columns: {
      destination: 'Destination',
      type: 'Message type',
      segment: 'Units a segment',
      message: 'Units a message',
    },
    others: 'All other destinations',
    allTypes: 'Any',
    none: 'No line has such a prefix',
    more: 'There are more lines: filter by prefix, or look a number up.',
  },
  lookUp: {
    title: 'Look up a number',
    label: 'Number or country',
    about: 'A number, the beginning of one, or a country: which line decides, and what a segment costs.',
    submit: 'Look up',
    error: 'Enter a number with its calling code, or the beginning of one, such as +49 151, or a country.',
    result: 'The lines that decide',
  },

  change: {
    title: 'Change prices',
    about:
      'The whole list as CSV, at most 20,000 lines: paste it, drop a file here, or choose one. A line names a prefix, a country, or neither: what all others cost. Messages that were reserved before keep their price.',
    file: 'Choose a file',
    label: 'Prices as CSV',
    from: 'Valid from',
    aboutFrom: 'At most 90 days ahead. Empty: at once.',
    preview: 'Preview',
    problems: {
      tooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB.`,
      empty: 'Enter a row with the names of the columns, and a row for each line.',
      columns: (known: string) => `The first row must name columns among these, each once: ${known}.`,
    },
    /** @param line of the file; null: of the whole */
    issue: (line: number | null, text: string) => (line === null ? text : `Line ${formatUnits(line)}: ${text}`),
    issues: {
      prefix: 'The prefix has 1 to 10 digits without plus, 00 or blanks.',
      country: 'The country is a code of two letters, such as DE. A line has a prefix or a country, not both.',
      message_type: 'The message type has 1 to 64 of these characters: a–z, 0–9, _ and -.',
      per_segment: 'per_segment is a whole number of units up to 1,000,000, and at least 1 unless per_message is.',
      per_message: 'per_message is a whole number of units up to 1,000,000.',
      twice: 'Another line is for the same destination and message type.',
      list: 'There are 1 to 20,000 lines, and one of them has neither prefix, country nor message type: what all other messages cost.',
      valid_from: 'Enter a time that is not over, at most 90 days ahead.',
    },
    outdated: 'Another version was saved since the preview. Look at the preview again.',
    nothing: 'Nothing changes: these prices hold then in any case.',
    counts: {
      new: (count: number) => `${formatUnits(count)} new`,
      gone: (count: number) => `${formatUnits(count)} gone`,
      dearer: (count: number) => `${formatUnits(count)} dearer`,
      cheaper: (count: number) => `${formatUnits(count)} cheaper`,
    },
    summary: (changes: string) => `Lines: ${changes}.`,
    table: 'The largest changes',
    columns: { destination: 'Destination', type: 'Message type', change: 'Change', cost: 'Units a segment' },
    kinds: { new: 'New', gone: 'Gone', dearer: 'Dearer', cheaper: 'Cheaper' },
    /** What a segment costs, and beside it the message. */
    cost: ({ per_segment, per_message }: { per_segment: number; per_message: number }) =>
      `${formatUnits(per_segment)}${perMessage(per_message)}`,
    more: (count: number) => `and ${counted(count, 'more line', 'more lines')}`,
    apply: 'Set these prices',
    back: 'Back',
    done: (version: number) => `Version ${version} of the prices is set. It holds in every process within two seconds.`,
    doneFrom: (version: number, from: string) => `Version ${version} of the prices is set. It holds from ${from} on.`,
  },

  field: {
    label: 'Prices',
    ofPlan: 'The rate card of users who have this plan, in any version, and none of their own.',
    asDefault: 'As the default',
    asPlan: 'As the plan, or the default',
  },
  ofUser: (card: ReactNode, from: 'own' | 'plan' | 'default') => (
    <>
      Prices: {card}
      {{ own: ', negotiated with the user', plan: ', by the plan', default: ', the default' }[from]}
    </>
  ),
  /** Of a message. */
  price: 'Price',
  priced: (segments: number, { per_segment, per_message }: { per_segment: number; per_message: number }) =>
    `${counted(segments, 'segment', 'segments')} × ${units(per_segment)}${perMessage(per_message)}`,
}
