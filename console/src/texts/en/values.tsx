import { formatUnits } from '../../formats.ts'

/** Numbers and times that appear in every part of the console. */
export const values = {
  unlimited: 'Unlimited',
  units: (count: number) => `${formatUnits(count)} ${count === 1 ? 'unit' : 'units'}`,
  kinds: { grant: 'Grant', cap: 'Cap' },
  /** Why messages are denied. */
  denialReasons: {
    no_quota: 'No quota',
    cap_reached: 'Cap reached',
    quota_exhausted: 'Quota exhausted',
  },
  /** What a user's own quotas are called, where their names are not known. */
  ownKinds: { grant: 'A package', cap: 'A limit' },
}
