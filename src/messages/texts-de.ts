/** The texts of messages in German. */
import type { DataOf, QuotaFacts, RequestFacts } from './facts.ts'
import { type OwnTexts, scopeOf, type Texts, type Words } from './texts.ts'

const quotaName = ({ id, name }: QuotaFacts) => (name === null ? `Kontingent ${id}` : `„${name}“`)
const units = (count: number, { number }: Words) => `${number(count)} ${count === 1 ? 'Einheit' : 'Einheiten'}`

function leftOf({ quota, sendable }: DataOf<'quota.threshold_reached'>, words: Words): string | null {
  if (sendable === undefined) return quota.remaining === null ? null : `${units(quota.remaining, words)} übrig`
  const { countries, types } = scopeOf({ quota, sendable })
  const places = [
    countries === null ? [] : `Ziel ${words.countries(countries)}`,
    types === null ? [] : `Typ ${words.list(types)}`,
  ].flat()
  const what = places.length === 0 ? 'Nachrichten' : `Nachrichten (${places.join(', ')})`
  return sendable.units === null ? `Kein Limit für ${what}` : `Noch ${units(sendable.units, words)} für ${what}`
}

const DECIDED = { open: 'offen', approved: 'genehmigt', declined: 'abgelehnt', withdrawn: 'zurückgezogen' } as const

function decidedText(whose: string, { status, units: asked, granted }: RequestFacts, words: Words): string {
  const other = granted === null || granted.units === asked ? '' : ` mit ${words.number(granted.units)}`
  return `${whose} über ${units(asked, words)} ${DECIDED[status]}${other}`
}

const ownQuota = ({ name }: QuotaFacts) => (name === null ? 'Ihr Kontingent' : `Ihr Kontingent „${name}“`)

const own: OwnTexts = {
  titles: {
    'quota.created': ({ quota }) => `Sie haben ein neues Kontingent${quota.name === null ? '' : `: „${quota.name}“`}`,
    'quota.updated': ({ quota }) => `${ownQuota(quota)} wurde geändert`,
    'quota.deleted': ({ quota }) => `${ownQuota(quota)} wurde entfernt`,
    'quota.threshold_reached': (data, words) => {
      const used = `${ownQuota(data.quota)} ist zu ${data.percent} % verbraucht`
      return [used, leftOf(data, words)].filter(part => part !== null).join(': ')
    },
    'quota.expired': ({ quota }) => `${ownQuota(quota)} ist abgelaufen`,
    'transfer.made': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `Sie haben ${units(moved, words)} von anderen Benutzern erhalten`
        : `${units(moved, words)} von Ihnen wurden an andere Benutzer übertragen`,
    'transfer.returned': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `Sie haben ${units(moved, words)} einer Übertragung zurückerhalten`
        : `Sie haben ${units(moved, words)} einer Übertragung zurückgegeben`,
    'request.decided': ({ request }, words) => decidedText('Ihre Anfrage', request, words),
    'pause.made': ({ pause }, { country }) => `Ihre Nachrichten sind angehalten: ${country(pause.country)}`,
    'pause.lifted': ({ pause }, { country }) => `Ihre Nachrichten sind wieder freigegeben: ${country(pause.country)}`,
    'breaker.tripped': ({ pause }, { country }) =>
      pause.observed
        ? `Auffälliger Verkehr: Ihre Nachrichten würden angehalten (${country(pause.country)})`
        : `Auffälliger Verkehr: Ihre Nachrichten sind angehalten (${country(pause.country)})`,
  },
  advice: {
    'quota.threshold_reached': ({ quota }) =>
      quota.remaining === 0
        ? quota.kind === 'cap'
          ? 'Solche Nachrichten werden abgelehnt, bis die Grenze neu zählt.'
          : 'Nachrichten, die kein anderes Kontingent bezahlt, werden abgelehnt. Bitten Sie um mehr Einheiten, wenn Sie welche brauchen.'
        : 'Bitten Sie um mehr Einheiten, wenn diese nicht reichen.',
    'quota.expired': () => 'Nachrichten, die kein anderes Kontingent bezahlt, werden abgelehnt.',
    'pause.made': () => 'Solche Nachrichten werden abgelehnt, bis die Pause endet oder aufgehoben wird.',
    'breaker.tripped': ({ pause }) =>
      pause.observed ? null : 'Solche Nachrichten werden abgelehnt, bis die Pause endet oder aufgehoben wird.',
  },
  many: count => `${count} Ereignisse zu Ihren Kontingenten`,
  open: 'Ihre Kontingente öffnen',
  footer: at => `${at} · Sie erhalten diese Nachricht, weil Sie diese Adresse bestätigt haben.`,
  stop: 'Diese Nachrichten beenden',
  confirm: {
    title: 'Bestätigen Sie Ihre E-Mail-Adresse',
    advice:
      'Nachrichten zu Ihren SMS-Kontingenten sollen an diese Adresse gehen. Folgen Sie dem Link, um sie zu bestätigen; er gilt einen Tag.',
    link: 'Bestätigen',
    footer: 'Wenn Sie das nicht wollten, tun Sie nichts: Dann kommt keine weitere Nachricht.',
  },
}

export const german: Texts = {
  nameOfUser: id => `Benutzer ${id}`,
  allUsers: 'alle Benutzer',
  international: 'internationale Netze',
  allBut: countries => `alle Länder außer ${countries}`,
  manyCountries: count => `${count} Länder`,
  titles: {
    'quota.created': ({ quota }, { user }) => `Neu für ${user}: ${quotaName(quota)}`,
    'quota.updated': ({ quota }, { user }) => `Geändert für ${user}: ${quotaName(quota)}`,
    'quota.deleted': ({ quota }, { user }) => `Gelöscht für ${user}: ${quotaName(quota)}`,
    'quota.threshold_reached': (data, words) => {
      const used = `${quotaName(data.quota)} von ${words.user} ist zu ${data.percent} % verbraucht`
      return [leftOf(data, words), used].filter(part => part !== null).join(': ')
    },
    'quota.expired': ({ quota }, { user }) => `Abgelaufen für ${user}: ${quotaName(quota)}`,
    'reservation.expired': ({ released, committed }, words) =>
      committed > 0
        ? `Reservierung von ${words.user} abgelaufen: ${units(committed, words)} als gesendet gezählt`
        : `Reservierung von ${words.user} abgelaufen: ${units(released, words)} zurückgegeben`,
    'transfer.made': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `${units(moved, words)} von anderen Benutzern erhalten: ${words.user}`
        : `${units(moved, words)} an andere Benutzer übertragen: ${words.user}`,
    'transfer.returned': ({ units: moved, direction }, words) =>
      direction === 'in'
        ? `${units(moved, words)} einer Übertragung zurückerhalten: ${words.user}`
        : `${units(moved, words)} einer Übertragung zurückgegeben: ${words.user}`,
    'request.made': ({ request }, words) => `${words.user} bittet um ${units(request.units, words)} mehr`,
    'request.decided': ({ request }, words) => decidedText(`Anfrage von ${words.user}`, request, words),
    'pause.made': ({ pause }, { user, country }) => `Nachrichten angehalten: ${country(pause.country)}, ${user}`,
    'pause.lifted': ({ pause }, { user, country }) => `Nachrichten freigegeben: ${country(pause.country)}, ${user}`,
    'breaker.tripped': ({ pause }, { user, country }) =>
      pause.observed
        ? `Künstlicher Verkehr, nur beobachtet: ${country(pause.country)}, ${user}`
        : `Künstlicher Verkehr, angehalten: ${country(pause.country)}, ${user}`,
    'webhook.disabled': ({ webhook }) => `Webhook abgeschaltet: ${webhook.description ?? webhook.id}`,
    'user.erased': ({ erasure }) => `Die Daten von Benutzer ${erasure.user_id} sind gelöscht`,
    'webhook.test': ({ webhook }) => `Test des Webhooks ${webhook.description ?? webhook.id}`,
  },
  advice: {
    'quota.threshold_reached': ({ quota }) =>
      quota.remaining === 0
        ? quota.kind === 'cap'
          ? 'Solche Nachrichten werden abgelehnt, bis die Grenze neu zählt. Erhöhen Sie die Grenze, wenn sie gehen sollen.'
          : 'Nachrichten, die kein anderes Kontingent bezahlt, werden abgelehnt. Erhöhen Sie das Limit, oder geben Sie Einheiten dazu.'
        : quota.kind === 'cap'
          ? 'Erhöhen Sie die Grenze, bevor sie aufgebraucht ist, wenn mehr gehen soll.'
          : 'Erhöhen Sie das Limit, oder geben Sie Einheiten dazu, bevor es aufgebraucht ist.',
    'quota.expired': () => 'Nachrichten, die kein anderes Kontingent bezahlt, werden abgelehnt.',
    'reservation.expired': () => 'Der Sender hat Einheiten reserviert und nicht gemeldet, was daraus geworden ist.',
    'request.made': ({ request }) =>
      request.status === 'open'
        ? 'Genehmigen Sie die Anfrage, oder lehnen Sie sie ab: Der Benutzer wartet auf Antwort.'
        : null,
    'pause.made': () => 'Solche Nachrichten werden abgelehnt, bis die Pause endet oder aufgehoben wird.',
    'breaker.tripped': ({ pause }) =>
      pause.observed
        ? 'Die Nachrichten gehen weiter hinaus. Prüfen Sie den Verkehr, und halten Sie das Ziel an, wenn er künstlich ist.'
        : 'Prüfen Sie den Verkehr, und heben Sie die Pause auf, wenn Menschen diese Codes eingeben.',
    'webhook.disabled': ({ webhook }) =>
      webhook.disabled_reason === 'gone'
        ? 'Der Empfänger hat geantwortet, dass es ihn nicht mehr gibt. Löschen Sie den Webhook, oder ändern Sie seine Adresse und schalten ihn wieder ein: Versäumtes wird dann gesendet.'
        : 'Drei Tage lang gelang keine Zustellung. Reparieren Sie den Empfänger, und schalten Sie den Webhook wieder ein: Versäumtes wird dann gesendet.',
    'user.erased': () => 'Löschen Sie Kopien der Daten, die Sie anderswo haben.',
    'webhook.test': () => 'So sehen Nachrichten über Ereignisse aus.',
  },
  types: {
    'quota.created': 'Kontingent angelegt',
    'quota.updated': 'Kontingent geändert',
    'quota.deleted': 'Kontingent gelöscht',
    'quota.threshold_reached': 'Warnschwelle erreicht',
    'quota.expired': 'Kontingent abgelaufen',
    'reservation.expired': 'Reservierung abgelaufen',
    'transfer.made': 'Einheiten übertragen',
    'transfer.returned': 'Einheiten zurückgegeben',
    'request.made': 'Anfrage gestellt',
    'request.decided': 'Anfrage entschieden',
    'pause.made': 'Ziel angehalten',
    'pause.lifted': 'Ziel freigegeben',
    'breaker.tripped': 'Künstlicher Verkehr',
    'webhook.disabled': 'Webhook abgeschaltet',
    'user.erased': 'Benutzer gelöscht',
    'webhook.test': 'Test',
  },
  labels: {
    user: 'Benutzer',
    limit: 'Limit',
    used: 'Verbraucht',
    reserved: 'Reserviert',
    left: 'Übrig',
    windowEnd: 'Zeitraum endet',
    released: 'Zurückgegebene Einheiten',
    committed: 'Als gesendet gezählte Einheiten',
    reason: 'Grund',
    note: 'Anmerkung',
    until: 'Bis',
    messageTypes: 'Nachrichtentypen',
    young: 'Nicht eingegeben, jünger als 5 Minuten',
    unverifiedHour: 'Nicht eingegeben in der letzten Stunde',
    unverifiedDay: 'Nicht eingegeben in 24 Stunden',
    verifiedDay: 'Eingegeben in 24 Stunden',
    failingSince: 'Fehlerhaft seit',
  },
  unknown: (type, { user }) => `Ereignis ${type}: ${user}`,
  many: {
    title: count => `${count} Ereignisse`,
    digest: count => `Tageszusammenfassung: ${count} Ereignisse`,
    more: count => `und ${count} weitere`,
    advice: 'Es waren zu viele für je eine Nachricht.',
  },
  open: 'In der Konsole öffnen',
  footer: (id, at) => `${at} · sms-quota, Webhook ${id}`,
  own,
}
