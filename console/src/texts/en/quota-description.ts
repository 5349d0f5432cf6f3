import { eachPeriod } from './periods.ts'

/** The parts of a quota's description in one line, in this order: allowance, period, scope, reset; rollover and so on. */
export const description = {
  blocksAll: 'Blocks all messages',
  /** Followed by the messages. */
  blocks: 'Blocks all units',
  unlimited: 'Unlimited units',
  units: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'unit' : 'units'}`,
  atMost: (units: string) => `At most ${units}`,
  inTotal: ' in total',
  each: eachPeriod(({ noun }) => ` each ${noun}`),
  countedEach: eachPeriod(({ noun }) => `, counted each ${noun}`),
  types: (types: string) => ` for ${types} messages`,
  manyTypes: (count: number) => ` for messages of ${count} types`,
  countries: (countries: string) => ` to ${countries}`,
  manyCountries: (count: number) => ` to ${count} countries`,
  resets: eachPeriod(
    ({ reset }) =>
      (zone: string) =>
        `, resets ${reset(zone)}`,
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
