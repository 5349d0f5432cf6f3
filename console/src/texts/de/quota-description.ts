import { JOINED } from '../../../../src/domain/time/anchor.ts'
import type { description as english } from '../en/quota-description.ts'
import { eachPeriod, per } from './periods.ts'

export function startWords(anchor: string, dayOfYear: (anchor: string) => string): string {
  if (anchor === JOINED) return 'Tag, an dem der Benutzer den Tarif bekam,'
  return anchor.includes('-') ? dayOfYear(anchor) : `${anchor}.`
}

function shorter(anchor: string | null): string {
  if (anchor === '02-29') return ' (in anderen Jahren am 28. Februar)'
  return anchor !== null && Number(anchor) > 28 ? ' (oder am letzten Tag des Monats)' : ''
}

export const description: typeof english = {
  blocksAll: 'Sperrt alle Nachrichten',
  blocks: 'Sperrt alle Einheiten',
  unlimited: 'Unbegrenzt viele Einheiten',
  units: (count, formatted) => `${formatted} ${count === 1 ? 'Einheit' : 'Einheiten'}`,
  messages: (count, formatted) => `${formatted} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`,
  per,
  only: scope => ` (nur${scope})`,
  atMost: units => `Höchstens ${units}`,
  inTotal: ' insgesamt',
  each: eachPeriod(({ per }) => ` ${per}`),
  countedEach: eachPeriod(({ per }) => `, gezählt ${per}`),
  types: types => ` für Nachrichten vom Typ ${types}`,
  manyTypes: count => ` für Nachrichten von ${count} Typen`,
  countries: countries => ` mit Ziel ${countries}`,
  exceptCountries: countries => ` in alle Länder außer ${countries}`,
  manyCountries: count => ` in ${count} Länder`,
  resets: eachPeriod(
    ({ reset }) =>
      (zone: string, anchor: string | null, dayOfYear: (anchor: string) => string) =>
        `, zurückgesetzt ${reset(zone, anchor === null ? null : `${startWords(anchor, dayOfYear)}${shorter(anchor)}`)}`,
  ),
  acrossGrants: 'über alle Pakete',
  rollover: units => `bis zu ${units} ungenutzte Einheiten gehen über`,
  noRollover: 'ungenutzte Einheiten verfallen',
  overage: units => `Überziehung bis zu ${units}`,
  from: at => `ab ${at}`,
  until: at => `bis ${at}`,
  untilLost: at => `bis ${at}, dann verfallen ungenutzte Einheiten`,
}
