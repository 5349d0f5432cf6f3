import { formatUnits } from '../../formats.ts'

/** Numbers and times that appear in every part of the console. */
export const values = {
  unlimited: 'Unlimited',
  units: (count: number) => `${formatUnits(count)} ${count === 1 ? 'unit' : 'units'}`,
  kinds: { grant: 'Grant', cap: 'Cap' },
}
