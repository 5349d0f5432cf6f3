import { JOINED } from '../../../../src/domain/time/anchor.ts'
import { eachPeriod, per } from './periods.ts'

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const SUFFIXES = new Map([
  ['one', 'st'],
  ['two', 'nd'],
  ['few', 'rd'],
])

/** Where months or years begin, of an anchor: the 15th, 1 April. */
export function startWords(anchor: string, dayOfYear: (anchor: string) => string): string {
  if (anchor === JOINED) return 'the day the user got the plan'
  if (anchor.includes('-')) return dayOfYear(anchor)
  return `the ${anchor}${SUFFIXES.get(ORDINALS.select(Number(anchor))) ?? 'th'}`
}

/** What becomes of a day that some months or years lack. */
function shorter(anchor: string | null): string {
  if (anchor === '02-29') return ' (28 February in other years)'
  return anchor !== null && Number(anchor) > 28 ? ' (or the last day of the month)' : ''
}

/** The parts of a quota's description in one line, in this order: allowance, period, scope, reset; rollover and so on. */
export const description = {
  blocksAll: 'Blocks all messages',
  /** Followed by the messages. */
  blocks: 'Blocks all units',
  unlimited: 'Unlimited units',
  units: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'unit' : 'units'}`,
  messages: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'message' : 'messages'}`,
  per,
  /** What a cap covers that counts each value by itself. */
  only: (scope: string) => ` (only${scope})`,
  atMost: (units: string) => `At most ${units}`,
  inTotal: ' in total',
  each: eachPeriod(({ noun }) => ` each ${noun}`),
  countedEach: eachPeriod(({ noun }) => `, counted each ${noun}`),
  types: (types: string) => ` for ${types} messages`,
  manyTypes: (count: number) => ` for messages of ${count} types`,
  countries: (countries: string) => ` to ${countries}`,
  exceptCountries: (countries: string) => ` to all countries except ${countries}`,
  manyCountries: (count: number) => ` to ${count} countries`,
  resets: eachPeriod(
    ({ reset }) =>
      (zone: string, anchor: string | null, dayOfYear: (anchor: string) => string) =>
        `, resets ${reset(zone, anchor === null ? null : `${startWords(anchor, dayOfYear)}${shorter(anchor)}`)}`,
  ),
  acrossGrants: 'across all grants',
  rollover: (units: string) => `up to ${units} unused units roll over`,
  noRollover: 'unused units do not roll over',
  overage: (units: string) => `overage of up to ${units}`,
  from: (at: string) => `from ${at}`,
  until: (at: string) => `until ${at}`,
  /** Of a one-time grant. */
  untilLost: (at: string) => `until ${at}, when unused units expire`,
}
