import { formatUnits } from '../../formats.ts'
import type { search as english } from '../en/search.tsx'

export const search: typeof english = {
  label: 'Suche',
  placeholder: 'Benutzer, Kontingent, Nachrichten-ID, Referenz, Land, +234, Tarif, Webhook oder Seite',
  close: 'Suche schließen',
  list: 'Ergebnisse',
  results: count => (count === 1 ? '1 Ergebnis' : `${formatUnits(count)} Ergebnisse`),
  nothing: 'Nichts gefunden. Gesucht wird nach dem Anfang einer ID, eines Namens oder einer Referenz.',
  more: 'Es gibt mehr Treffer. Eine längere Eingabe findet sie.',
  words: {
    '/webhooks': 'Slack, Teams, E-Mail, Benachrichtigungen, Mitteilungen',
    '/prices': 'Preislisten, Kosten, rates',
    '/pauses': 'angehaltene Ziele, Sicherung, Pumpen',
    '/messages': 'Ablehnungen, Reservierungen, gesendet',
    '/users': 'Benutzer, Konten',
    '/changes': 'Protokoll, Verlauf, erhöhte Limits',
    '/requests': 'mehr Einheiten, bewilligen',
  },
  groups: {
    recent: 'Zuletzt geöffnet',
    pages: 'Seiten',
    actions: 'Aktionen',
    countries: 'Länder',
    users: 'Benutzer',
    quotas: 'Kontingente',
    plans: 'Tarife',
    messages: 'Nachrichten',
    webhooks: 'Webhooks',
  },
  hits: {
    user: id => `Benutzer ${id}`,
    quotas: count => (count === 1 ? '1 Kontingent' : `${formatUnits(count)} Kontingente`),
    denied: 'Abgelehnt',
    plan: version => `Fassung ${version}`,
    defaultPlan: 'Standard',
    unknownUser: id => `Benutzer ${id} ist unbekannt: kein Kontingent, keine Nachricht, kein Verbrauch.`,
  },
  countries: {
    sendersTo: name => `Wer sendet nach ${name}?`,
    denialsTo: name => `Abgelehnte Nachrichten nach ${name}`,
    messagesOn: (name, day) => `Nachrichten nach ${name} am ${day}`,
    quotasFor: name => `Kontingente für ${name}`,
    block: name => `${name} für einen Benutzer sperren …`,
  },
  actions: {
    newQuota: 'Neues Kontingent',
    newQuotaFor: user => `Neues Kontingent für Benutzer ${user}`,
    newPlan: 'Neuer Tarif',
    newWebhook: 'Neuer Webhook',
    language: name => `Sprache: ${name}`,
  },
}
