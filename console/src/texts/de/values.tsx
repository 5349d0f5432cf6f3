import { formatUnits } from '../../formats.ts'
import type { values as english } from '../en/values.tsx'

export const values: typeof english = {
  unlimited: 'Unbegrenzt',
  units: count => `${formatUnits(count)} ${count === 1 ? 'Einheit' : 'Einheiten'}`,
  kinds: { grant: 'Paket', cap: 'Obergrenze' },
  denialReasons: {
    no_quota: 'Kein Kontingent',
    cap_reached: 'Obergrenze erreicht',
    quota_exhausted: 'Kontingent aufgebraucht',
  },
  ownKinds: { grant: 'Ein Paket', cap: 'Ein Limit' },
}
