import { exceptionsOf } from '../../../../src/domain/messages/country.ts'
import type { DenialReason } from '../../../../src/domain/units/reservation.ts'
import { countryName, formatList, formatUnits } from '../../formats.ts'
import { per } from './periods.ts'

/** Countries that a sentence names before it only counts the rest. */
const MAX_NAMED = 5

function named(items: readonly string[]): string {
  const more = items.length - MAX_NAMED
  return formatList(more <= 0 ? items : [...items.slice(0, MAX_NAMED), `${more} more`])
}

/** "Germany and Austria", "all countries except Germany" */
function destinations(countries: readonly string[]): string {
  const others = exceptionsOf(countries)
  if (others === null || others.length > MAX_NAMED) return named(countries.map(countryName))
  return others.length === 0 ? 'all countries' : `all countries except ${formatList(others.map(countryName))}`
}

/** Numbers and times that appear in every part of the console. */
export const values = {
  unlimited: 'Unlimited',
  units: (count: number) => `${formatUnits(count)} ${count === 1 ? 'unit' : 'units'}`,
  messageCount: (count: number) => `${formatUnits(count)} ${count === 1 ? 'message' : 'messages'}`,
  /** For which a limit holds by itself: 3 messages to one number. */
  per,
  kinds: { grant: 'Grant', cap: 'Cap' },
  /** Why messages are denied. */
  denialReasons: {
    no_quota: 'No quota',
    cap_reached: 'Cap reached',
    quota_exhausted: 'Quota exhausted',
    destination_paused: 'Destination paused',
  } satisfies Record<DenialReason, string>,
  /** What a user's own quotas are called, where their names are not known. */
  ownKinds: { grant: 'A package', cap: 'A limit' },
  /** A quota without a name. */
  unnamed: (kind: 'grant' | 'cap', id: number, isOwn: boolean) =>
    isOwn ? (kind === 'grant' ? 'Package' : 'Limit') : `${kind === 'grant' ? 'Grant' : 'Cap'} ${id}`,
  /** The messages of a scope, with a capital letter only at the beginning of a sentence. */
  messages: (countries: readonly string[] | null, types: readonly string[] | null) =>
    [
      'messages',
      ...(types === null ? [] : [`of type ${named(types)}`]),
      ...(countries === null ? [] : [`to ${destinations(countries)}`]),
    ].join(' '),
  /** Of countries. */
  allExcept: (others: string) => (others === '' ? 'All countries' : `All except ${others}`),
  /** Changes that one request made with the one that is shown. */
  othersAtOnce: (count: number) => `and ${formatUnits(count)} more ${count === 1 ? 'change' : 'changes'} at once`,
}
