import { countryName, formatList, formatUnits } from '../../formats.ts'
import type { Texts } from '../en/en.ts'
import { values } from './values.tsx'

const EACH = {
  hour: 'stündliche ',
  day: 'tägliche ',
  week: 'wöchentliche ',
  month: 'monatliche ',
  year: 'jährliche ',
} as const

/** Countries that a sentence names before it only counts the rest. */
const MAX_NAMED = 5

function named(items: readonly string[]): string {
  const more = items.length - MAX_NAMED
  return formatList(more <= 0 ? items : [...items.slice(0, MAX_NAMED), `${more} weitere`])
}

export const user: Texts['user'] = {
  title: id => `Benutzer ${id}`,
  mine: { title: 'Meine Kontingente', about: 'Ob gesendet werden kann, was übrig ist und was gesendet wurde.' },
  sections: 'Abschnitte',
  tabs: { overview: 'Übersicht', reservations: 'Reservierungen', denials: 'Ablehnungen', changes: 'Änderungen' },
  newQuota: 'Neues Kontingent für diesen Benutzer',

  unnamed: (kind, id, isOwn) =>
    isOwn ? (kind === 'grant' ? 'Paket' : 'Obergrenze') : `${kind === 'grant' ? 'Paket' : 'Obergrenze'} ${id}`,
  ownKinds: { grant: 'Paket', cap: 'Obergrenze' },

  messages: (countries, types) =>
    [
      'Nachrichten',
      ...(types === null ? [] : [`vom Typ ${named(types)}`]),
      ...(countries === null ? [] : [`nach ${named(countries.map(countryName))}`]),
    ].join(' '),

  status: {
    label: 'Kann dieser Benutzer senden?',
    ownLabel: 'Kann gesendet werden?',
    can: (_, units) => <>Kann jetzt {units} senden</>,
    canScope: (_, messages, units, isOnly) => (
      <>
        Kann {isOnly && 'nur '}
        {messages} senden: jetzt {units}
      </>
    ),
    canUnlimited: () => 'Kann unbegrenzt senden',
    unlimited: 'beliebig viele Einheiten',
    until: (units, at) => (
      <>
        , {units} bis {at}
      </>
    ),
    remain: (units, isOwn) => {
      const where = isOwn ? 'im Paket' : 'in den Paketen'
      return `${values.units(units)} ${units === 1 ? 'ist' : 'sind'} ${where} übrig.`
    },
    blocked: (_, why) => `Gesperrt: ${why}.`,
    blockedUntil: (_, at, why) => (
      <>
        Gesperrt bis {at}: {why}.
      </>
    ),
    startsAt: (_, at) => <>Kann ab {at} senden.</>,
    cap: (period, limit) => `die ${period === null ? '' : EACH[period]}Obergrenze von ${formatUnits(limit)}`,
    usedUp: caps => `${formatList(caps)} ${caps.length === 1 ? 'ist' : 'sind'} erreicht`,
    allowsNone: cap => `${cap} lässt keine zu`,
    why: {
      exhausted: 'alle Einheiten sind verbraucht',
      suspended: () => 'die Kontingente sind ausgesetzt',
      expired: () => 'die Kontingente sind abgelaufen',
      none: () => 'es gibt noch keine Kontingente',
      capsOnly: () => 'es gibt Obergrenzen, aber kein Paket',
      notCovered: () => 'kein Paket gilt dafür',
    },
    ask: 'Mehr Einheiten gibt es bei der Verwaltung.',
    others: 'alle anderen Nachrichten',
    scope: {
      can: (messages, units) => `${messages}: jetzt ${units}`,
      blocked: (messages, why) => `${messages}: gesperrt, ${why}.`,
      blockedUntil: (messages, at, why) => (
        <>
          {messages}: gesperrt bis {at}, {why}.
        </>
      ),
      startsAt: (messages, at) => (
        <>
          {messages}: ab {at}.
        </>
      ),
    },
    more: count => `${formatUnits(count)} weitere Arten von Nachrichten weichen ab`,
    raiseCap: 'Obergrenze anheben',
    raise: name => `„${name}“ anheben`,
    addUnits: 'Einheiten hinzufügen',
    resume: 'Kontingent fortsetzen',
    create: 'Kontingent anlegen',
  },

  summary: {
    grants: 'Alle Pakete',
    ownGrants: 'Alle Pakete',
    limit: 'Limit',
    reserved: 'Reserviert',
    reservedAbout: 'Für Nachrichten, die unterwegs sind',
    overage: 'Überzogen',
    nextReset: 'Nächster Neubeginn',
    restored: units => `${values.units(units)} kommen zurück`,
    nextExpiry: 'Nächster Ablauf',
    expiring: units => (units === null ? 'Bis dahin unbegrenzt' : `${values.units(units)} würden verfallen`),
  },
  forecast: {
    unlimited: rate => `${rate}, unbegrenzt.`,
    lasts: rate => `${rate}; reicht mehr als ein Jahr.`,
    now: rate => `${rate}.`,
    runsOut: (rate, at) => (
      <>
        {rate}; bei diesem Verbrauch endet das Senden um den {at}.
      </>
    ),
  },
  caps: {
    title: 'Obergrenzen',
    ownTitle: 'Obergrenzen',
    about: 'Sie gelten über alle Pakete hinweg und bezahlen nichts.',
    ownAbout: 'Was in einem Zeitraum höchstens gesendet werden kann, unabhängig von den Paketen.',
    resets: at => <>Beginnt neu am {at}</>,
    ends: at => <>Endet am {at}</>,
    doesNotReset: 'Beginnt nicht neu',
    headroom: 'frei',
    each: { hour: 'Stündlich', day: 'Täglich', week: 'Wöchentlich', month: 'Monatlich', year: 'Jährlich' },
  },
  scopes: {
    title: 'Pakete nach Geltungsbereich',
    ownTitle: 'Pakete nach Ziel',
    allCountries: 'Alle Ziele',
    allTypes: 'Alle Nachrichtentypen',
    limit: 'Limit',
    more: (names, count) => `${names} und ${count} weitere`,
  },
  quotas: {
    title: 'Kontingente',
    openList: 'In der Liste öffnen',
    pastTheEnd: 'Diese Seite liegt hinter dem Ende der Liste.',
    none: 'Noch keine Kontingente',
    ownNone: 'Ohne Kontingent kann nichts gesendet werden. Die Verwaltung kann eines anlegen.',
    noneAbout: 'Ohne Kontingent kann dieser Benutzer nichts senden.',
    createFirst: 'Das erste anlegen',
  },

  check: {
    title: 'Ginge diese Nachricht hinaus?',
    about: 'Nichts wird reserviert oder gesendet. Nummer und Text bleiben im Browser.',
    to: 'Telefonnummer oder Land',
    toAbout: 'Freiwillig. Bestimmt, welche Kontingente gelten.',
    toPlaceholder: '+49 151 12345678 oder DE',
    toError: 'Bitte eine Nummer mit + und Landesvorwahl oder die zwei Buchstaben eines Landes eingeben.',
    unknownCountry: 'Diese Nummer gehört zu keinem Land.',
    by: 'Kosten nach',
    byText: 'Text',
    byUnits: 'Einheiten',
    text: 'Text',
    units: 'Einheiten',
    unitsError: 'Bitte eine ganze Zahl von 1 bis 1.000.000.000 eingeben.',
    type: 'Nachrichtentyp',
    typeAbout: 'Freiwillig, etwa otp',
    typeError: 'Bis zu 64 Kleinbuchstaben, Ziffern, _ und -',
    submit: 'Prüfen',
    costs: (units, encoding) => {
      if (encoding === null) return `Sie kostet ${values.units(units)}.`
      const segments = units === 1 ? 'ein Segment' : `${formatUnits(units)} Segmente`
      return `Sie kostet ${values.units(units)}: ${segments} in ${encoding}.`
    },
    goes: 'Ja, sie ginge jetzt hinaus.',
    denied: why => `Nein: ${why}.`,
    observed: 'Im Beobachtungsmodus geht sie trotzdem hinaus.',
    reasons: {
      no_quota: 'kein Paket gilt für diese Nachricht',
      cap_reached: 'eine Obergrenze hat zu wenig Platz',
      quota_exhausted: 'die Pakete dafür haben zu wenige Einheiten',
    },
    left: units =>
      units === null
        ? 'Danach könnten beliebig viele solche Einheiten gesendet werden.'
        : `Danach könnten noch ${values.units(units)} so gesendet werden.`,
    room: units => `${values.units(units)} könnten jetzt so gesendet werden.`,
    retryAt: at => <>Sie könnte ab {at} hinausgehen.</>,
    waitingDoesNotHelp: 'Warten hilft nicht.',
    nothingReserved: 'Dies war eine Prüfung: nichts wurde reserviert.',
    quotas: 'Was jedes Kontingent sagt',
    noQuotas: 'Es gibt keine Kontingente.',
    verdicts: {
      pays: units => `Bezahlt ${values.units(units)}`,
      counts: units => `Hat Platz und zählt ${values.units(units)}`,
      hasRoom: 'Hat Platz',
      blocks: 'Hält die Nachricht auf: zu wenig Platz',
      exhausted: 'Gilt für die Nachricht, hat aber nichts mehr',
      hasUnits: 'Gilt für die Nachricht und hat noch Einheiten',
      hasTooFewUnits: 'Gilt für die Nachricht, hat aber zu wenige Einheiten',
      notNeeded: 'Gilt für die Nachricht, wird aber nicht gebraucht',
      suspended: 'Zählt nicht: ausgesetzt',
      scheduled: 'Zählt nicht: hat noch nicht begonnen',
      expired: 'Zählt nicht: abgelaufen',
      expiredAt: at => <>Zählt nicht: abgelaufen am {at}</>,
      otherCountry: country => `Zählt nicht: gilt nicht für ${country}`,
      needsCountry: 'Zählt nicht: gilt für bestimmte Länder, und die Nachricht nennt keines',
      otherType: type => `Zählt nicht: gilt nicht für den Typ ${type}`,
      needsType: 'Zählt nicht: gilt für bestimmte Nachrichtentypen, und die Nachricht nennt keinen',
    },
  },

  reservations: {
    table: 'Reservierungen',
    columns: {
      reservation: 'Nachricht',
      state: 'Zustand',
      units: 'Einheiten',
      destination: 'Für',
      chargedTo: 'Bezahlt von',
      created: 'Erstellt',
    },
    filters: {
      state: 'Zustand',
      allStates: 'Alle Zustände',
      chargedTo: 'Bezahlt von',
      allQuotas: 'Alle Kontingente',
      otherQuota: 'Ein anderes Kontingent',
      from: 'Von',
      to: 'Bis',
      clear: 'Filter entfernen',
    },
    until: at => <>Bis {at}</>,
    noCountry: 'Kein Land',
    noQuota: 'Kein Kontingent',
    countedBy: caps => <>gezählt von {caps}</>,
    opening: 'Anfangsbestand',
    reserved: 'Reserviert',
    consumed: 'Sofort gesendet',
    forced: how => `${how}, über jede Grenze hinaus`,
    requested: units => `${formatUnits(units)} angefragt`,
    committed: units => `${formatUnits(units)} bestätigt`,
    released: units => `${formatUnits(units)} freigegeben`,
    refunded: units => `${formatUnits(units)} erstattet`,
    none: 'Keine Reservierungen',
    noneAbout: 'Hier erscheinen Reservierungen und gesendete Nachrichten.',
    noneFiltered: 'Keine Reservierung passt zu diesen Filtern.',
    noneOlder: 'Keine älteren Reservierungen',
    searching: 'Bisher keine gefunden',
    searchingAbout: 'Ältere Reservierungen sind noch nicht durchsucht.',
  },

  changes: {
    table: 'Änderungen',
    columns: { quota: 'Kontingent', change: 'Änderung', reason: 'Grund', by: 'Von', at: 'Am' },
    actions: { created: 'Angelegt', updated: 'Geändert', deleted: 'Gelöscht', erased: 'Daten gelöscht' },
    version: version => `Version ${version}`,
    none: 'Keine Änderungen',
    noneAbout: 'Hier erscheinen Änderungen an den Kontingenten dieses Benutzers.',
    noneOlder: 'Keine älteren Änderungen',
    searching: 'Bisher keine gefunden',
    searchingAbout: 'Ältere Änderungen sind noch nicht durchsucht.',
    hint: 'Die Seite eines Kontingents zeigt die geänderten Werte.',
  },
}
