import { exceptionsOf } from '../../../../src/domain/messages/country.ts'
import { countryName, formatList, formatUnits } from '../../formats.ts'
import type { values as english } from '../en/values.tsx'
import { per } from './periods.ts'

/** Countries that a sentence names before it only counts the rest. */
const MAX_NAMED = 5

function named(items: readonly string[]): string {
  const more = items.length - MAX_NAMED
  return formatList(more <= 0 ? items : [...items.slice(0, MAX_NAMED), `${more} weitere`])
}

function destinations(countries: readonly string[]): string {
  const others = exceptionsOf(countries)
  if (others === null || others.length > MAX_NAMED) return `nach ${named(countries.map(countryName))}`
  return others.length === 0 ? 'in alle Länder' : `in alle Länder außer ${formatList(others.map(countryName))}`
}

export const values: typeof english = {
  unlimited: 'Unbegrenzt',
  units: count => `${formatUnits(count)} ${count === 1 ? 'Einheit' : 'Einheiten'}`,
  messageCount: count => `${formatUnits(count)} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`,
  per,
  kinds: { grant: 'Paket', cap: 'Obergrenze' },
  denialReasons: {
    no_quota: 'Kein Kontingent',
    cap_reached: 'Obergrenze erreicht',
    quota_exhausted: 'Kontingent aufgebraucht',
    destination_paused: 'Ziel angehalten',
  },
  ownKinds: { grant: 'Ein Paket', cap: 'Ein Limit' },
  unnamed: (kind, id, isOwn) =>
    isOwn ? (kind === 'grant' ? 'Paket' : 'Obergrenze') : `${kind === 'grant' ? 'Paket' : 'Obergrenze'} ${id}`,
  messages: (countries, types) =>
    [
      'Nachrichten',
      ...(types === null ? [] : [`vom Typ ${named(types)}`]),
      ...(countries === null ? [] : [destinations(countries)]),
    ].join(' '),
  allExcept: others => (others === '' ? 'Alle Länder' : `Alle außer ${others}`),
  othersAtOnce: count => `und ${formatUnits(count)} weitere ${count === 1 ? 'Änderung' : 'Änderungen'} zugleich`,
}
