import type { DenialReason } from '../../../../src/domain/units/reservation.ts'
import { formatRate, formatUnits } from '../../formats.ts'

/** Usage over time. */
export const usage = {
  title: 'Usage',
  unit: 'Units',
  total: 'Total',
  measures: {
    committed: { label: 'Committed', about: 'Sent and charged', none: 'Nothing committed in this period' },
    refunded: { label: 'Refunded', about: 'Returned after sending', none: 'Nothing refunded in this period' },
    denied: { label: 'Denied', about: 'Asked for, but not granted', none: 'Nothing denied in this period' },
    unfunded: { label: 'Unfunded', about: 'Sent without a grant', none: 'Nothing unfunded in this period' },
  },
  /** For the user whose usage it is. */
  ownMeasures: {
    committed: { label: 'Charged', about: 'Sent', none: 'Nothing charged in this period' },
    refunded: { label: 'Returned', about: 'Given back after sending', none: 'Nothing returned in this period' },
    denied: { label: 'Denied', about: 'Asked for, but not granted', none: 'Nothing denied in this period' },
    unfunded: {
      label: 'Not charged',
      about: 'Sent without a package',
      none: 'Nothing without a package in this period',
    },
  },
  chooseMeasure: 'What the chart shows',
  messages: (count: number) => `${formatUnits(count)} ${count === 1 ? 'message' : 'messages'}`,
  /** Of all messages, or of those to a country or of a type. */
  entered: (messages: number, verified: number, group: string | null) =>
    group === null
      ? `Of ${formatUnits(messages)} messages, ${formatUnits(verified)} codes were entered.`
      : `${group}: of ${formatUnits(messages)} messages, ${formatUnits(verified)} codes were entered.`,
  /** The units denied, by reason. Reasons without units are left out. */
  deniedBy: 'Denied because of:',
  reasons: {
    no_quota: (units: string) => `no quota for the message ${units}`,
    cap_reached: (units: string) => `a cap ${units}`,
    quota_exhausted: (units: string) => `too few units left ${units}`,
    destination_paused: (units: string) => `a paused destination ${units}`,
  } satisfies Record<DenialReason, (units: string) => string>,
  ownReasons: {
    no_quota: (units: string) => `no package for the message ${units}`,
    cap_reached: (units: string) => `a limit ${units}`,
    quota_exhausted: (units: string) => `too few units left ${units}`,
    destination_paused: (units: string) => `a paused destination ${units}`,
  } satisfies Record<DenialReason, (units: string) => string>,
  period: 'Period',
  thisMonth: 'This month',
  lastDays: (days: string) => `Last ${days} days`,
  customPeriod: 'Custom',
  from: 'From',
  to: 'To',
  groupBy: 'Group by',
  noGroup: 'None',
  groups: { country: 'Country', message_type: 'Message type', quota: 'Quota' },
  /** What belongs to no value of a group. */
  without: { country: 'No country', message_type: 'No type', quota: 'No grant' },
  ownWithout: { country: 'No country', message_type: 'No type', quota: 'No package' },
  others: (count: number) => `${count} others`,
  showTable: 'Show as table',
  showChart: 'Show as chart',
  noReport: 'No report for this period',
  errors: {
    to: 'Choose a day that is not before “From”.',
    interval: `Choose at most ${formatUnits(1_000)} days.`,
    group_by: 'There are too many groups for this many days. Choose a shorter period.',
  },
  correctFields: 'Correct the fields above.',
  approximate: (day: string) =>
    `Days up to ${day} are approximate: usage of that age is kept by the day of another time zone.`,
  chart: (measure: string) =>
    `Units ${measure.toLowerCase()} by day. Use the arrow keys to move between days, or “Show as table”.`,
  table: 'Units by day',
  day: 'Day',
  /** Units per day, rounded to two significant digits below 10. */
  dailyRate: (rate: number) => {
    const text = formatRate(rate)
    return `About ${text} ${text === '1' ? 'unit' : 'units'} used per day`
  },
  forecast: (rate: number) => {
    const text = formatRate(rate)
    return `Forecast: about ${text} ${text === '1' ? 'unit' : 'units'} per day`
  },
  /** By which days a chart counts. */
  days: (zone: string) => `Days of the time zone ${zone}. A quota that resets in another one counts other days.`,
  forecastDay: (units: number, band: readonly [number, number] | null) =>
    `About ${formatUnits(units)} units forecast${band === null ? '' : `, on most days ${formatUnits(band[0])} to ${formatUnits(band[1])}`}`,
  /** The line of a cap. */
  cap: (limit: number, isOwn: boolean) => `${isOwn ? 'Limit' : 'Cap'}: ${formatUnits(limit)} units each day`,
  /** The line below a bar. */
  bar: {
    used: (units: string) => `${units} used`,
    reserved: (units: string) => `${units} reserved`,
    overage: (units: string) => `${units} over the limit`,
    left: (units: string) => `${units} left`,
    unlimited: 'unlimited',
  },
}
