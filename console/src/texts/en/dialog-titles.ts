import type { Period } from '../../../../src/domain/time/period.ts'
import { eachPeriod } from './periods.ts'

const ADJECTIVES = eachPeriod(({ adjective }) => `${adjective} `)
const adjectiveOf = (period: Period | null) => (period === null ? '' : ADJECTIVES[period])

/** What the dialogs of a quota are called, on any page that opens one. */
export const dialogTitles = {
  adjust: { grant: 'Adjust the limit', cap: 'Adjust the limit' },
  suspend: { grant: 'Suspend this grant', cap: 'Suspend this cap' },
  transfer: { grant: 'Hand units on', cap: 'Hand units on' },
  delete: { grant: 'Delete this grant', cap: 'Delete this cap' },
  /** Of those that help a user who cannot send. */
  raise: (period: Period | null, user: number) => `Raise the ${adjectiveOf(period)}cap of user ${user}`,
  add: (user: number) => `Add units for user ${user}`,
}
