import type { Period } from '../../../../src/domain/time/period.ts'
import { capitalized } from '../by-period.ts'
import type { dialogTitles as english } from '../en/dialog-titles.ts'
import { eachPeriod } from './periods.ts'

const ADJECTIVES = eachPeriod(({ adverb }) => `${adverb}e `)
const adjectiveOf = (period: Period | null) => (period === null ? '' : ADJECTIVES[period])

export const dialogTitles: typeof english = {
  adjust: { grant: 'Limit anpassen', cap: 'Limit anpassen' },
  suspend: { grant: 'Dieses Paket aussetzen', cap: 'Diese Obergrenze aussetzen' },
  transfer: { grant: 'Einheiten übertragen', cap: 'Einheiten übertragen' },
  delete: { grant: 'Dieses Paket löschen', cap: 'Diese Obergrenze löschen' },
  raise: (period, user) => `${capitalized(adjectiveOf(period))}Obergrenze von Benutzer ${user} anheben`,
  add: user => `Einheiten für Benutzer ${user} hinzufügen`,
}
