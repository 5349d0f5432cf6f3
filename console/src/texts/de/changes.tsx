import { formatUnits } from '../../formats.ts'
import type { changes as english } from '../en/changes.tsx'
import { values } from './values.tsx'

const counted = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Änderung' : 'Änderungen'}`

export const changes: typeof english = {
  title: 'Änderungen',
  about: 'Wer was geändert hat, von was zu was und warum, über alle Benutzer, die neuesten zuerst.',
  table: 'Änderungen',
  columns: {
    what: 'Was',
    user: 'Benutzer',
    change: 'Änderung',
    difference: 'Unterschied',
    reason: 'Grund',
    by: 'Von',
    at: 'Am',
    request: 'Anfrage',
  },
  actions: {
    created: 'Angelegt',
    updated: 'Geändert',
    deleted: 'Gelöscht',
    erased: 'Daten gelöscht',
    archived: 'Archiviert',
    lifted: 'Freigegeben',
    approved: 'Bewilligt',
    declined: 'Abgelehnt',
    withdrawn: 'Zurückgezogen',
    confirmed: 'Bestätigt',
    disabled: 'Vom Dienst abgeschaltet',
    secret_rotated: 'Geheimnis ersetzt',
    secret_discarded: 'Geheimnis ersetzt, weil es nicht entschlüsselt werden konnte',
  },
  things: {
    breaker: 'Sicherung gegen gepumpte Codes',
    user: 'Daten eines Benutzers',
    address: 'Adresse für Nachrichten',
    request: 'Anfrage nach mehr Einheiten',
    webhook: name => `Webhook „${name}“`,
    rateCard: name => `Preisliste „${name}“`,
    plan: name => `Tarif „${name}“`,
    pause: country => `Angehalten: ${country}`,
  },
  planMoved: ({ name, from, to }) => `Tarif ${name}, Fassung ${from} → ${to}`,
  version: version => `Version ${version}`,
  fromTo: (from, to) => (
    <>
      {from} → {to}
    </>
  ),
  pausedUntil: until => (until === null ? 'bis zur Freigabe' : `bis ${until}`),
  unitsUntil: (units, until) => `${values.units(units)} bis ${until}`,
  mode: 'Modus',
  unlimited: 'unbegrenzt',

  filters: {
    raised: { label: 'Art', all: 'Alle Änderungen' },
    raises: { true: 'Erhöhte Limits' },
    resource: { label: 'Woran', all: 'An allem' },
    resources: {
      quota: 'Kontingenten',
      plan: 'Tarifen',
      rate_card: 'Preislisten',
      profile: 'Profilen',
      address: 'Adressen für Nachrichten',
      increase_request: 'Anfragen nach mehr Einheiten',
      pause: 'Angehaltenen Zielen',
      breaker: 'Der Sicherung',
      webhook: 'Webhooks',
      user: 'Löschungen von Daten',
    },
    actor: { label: 'Von', all: 'Subject eines Tokens', error: 'Bis zu 255 Zeichen: das Subject eines Tokens' },
  },
  aboutRaised: 'Limits, die mehr erlauben als vorher, und Kontingente, die kein Tarif und keine Übertragung gab.',
  exporting: {
    button: 'CSV exportieren',
    running: count => `${counted(count)} exportiert …`,
    done: count => `${counted(count)} exportiert.`,
    cancel: 'Export anhalten',
  },

  none: 'Keine Änderungen',
  noneAbout: 'Hier erscheinen Änderungen.',
  noneOfUser: 'Hier erscheinen Änderungen an den Kontingenten dieses Benutzers.',
}
