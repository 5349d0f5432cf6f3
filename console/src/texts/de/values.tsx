import { formatUnits } from '../../formats.ts'
import type { Texts } from '../en/en.ts'

export const values: Texts['values'] = {
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
