import type { description as english } from '../en/quota-description.ts'

export const description: typeof english = {
  unlimited: 'Unbegrenzt viele Einheiten',
  units: (count, formatted) => `${formatted} ${count === 1 ? 'Einheit' : 'Einheiten'}`,
  atMost: units => `Höchstens ${units}`,
  inTotal: ' insgesamt',
  each: {
    hour: ' pro Stunde',
    day: ' pro Tag',
    week: ' pro Woche',
    month: ' pro Monat',
    year: ' pro Jahr',
  },
  countedEach: {
    hour: ', gezählt pro Stunde',
    day: ', gezählt pro Tag',
    week: ', gezählt pro Woche',
    month: ', gezählt pro Monat',
    year: ', gezählt pro Jahr',
  },
  types: types => ` für Nachrichten vom Typ ${types}`,
  manyTypes: count => ` für Nachrichten von ${count} Typen`,
  countries: countries => ` mit Ziel ${countries}`,
  manyCountries: count => ` in ${count} Länder`,
  resets: {
    hour: zone => `, zurückgesetzt zu jeder vollen Stunde in ${zone}`,
    day: zone => `, zurückgesetzt um 00:00 Uhr ${zone}`,
    week: zone => `, zurückgesetzt am Montag um 00:00 Uhr ${zone}`,
    month: zone => `, zurückgesetzt am 1. um 00:00 Uhr ${zone}`,
    year: zone => `, zurückgesetzt am 1. Januar um 00:00 Uhr ${zone}`,
  },
  acrossGrants: 'über alle Pakete',
  rollover: units => `bis zu ${units} ungenutzte Einheiten gehen über`,
  noRollover: 'ungenutzte Einheiten verfallen',
  overage: units => `Überziehung bis zu ${units}`,
  from: at => `ab ${at}`,
  until: at => `bis ${at}`,
}
