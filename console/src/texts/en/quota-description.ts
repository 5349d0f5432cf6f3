/** The parts of a quota's description in one line, in this order: allowance, period, scope, reset; rollover and so on. */
export const description = {
  blocksAll: 'Blocks all messages',
  /** Followed by the messages. */
  blocks: 'Blocks all units',
  unlimited: 'Unlimited units',
  units: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'unit' : 'units'}`,
  atMost: (units: string) => `At most ${units}`,
  inTotal: ' in total',
  each: { hour: ' each hour', day: ' each day', week: ' each week', month: ' each month', year: ' each year' },
  countedEach: {
    hour: ', counted each hour',
    day: ', counted each day',
    week: ', counted each week',
    month: ', counted each month',
    year: ', counted each year',
  },
  types: (types: string) => ` for ${types} messages`,
  manyTypes: (count: number) => ` for messages of ${count} types`,
  countries: (countries: string) => ` to ${countries}`,
  manyCountries: (count: number) => ` to ${count} countries`,
  resets: {
    hour: (zone: string) => `, resets on the hour in ${zone}`,
    day: (zone: string) => `, resets at 00:00 ${zone}`,
    week: (zone: string) => `, resets on Monday at 00:00 ${zone}`,
    month: (zone: string) => `, resets on the 1st at 00:00 ${zone}`,
    year: (zone: string) => `, resets on 1 January at 00:00 ${zone}`,
  },
  acrossGrants: 'across all grants',
  rollover: (units: string) => `up to ${units} unused units roll over`,
  noRollover: 'unused units do not roll over',
  overage: (units: string) => `overage of up to ${units}`,
  from: (at: string) => `from ${at}`,
  until: (at: string) => `until ${at}`,
  /** Of a one-time grant. */
  untilLost: (at: string) => `until ${at}, when unused units expire`,
}
