import { VisuallyHidden } from '@mantine/core'
import type { Period } from '../../../../src/domain/time/period.ts'
import { formatList, formatUnits } from '../../formats.ts'
import type { user as english } from '../en/user.tsx'
import { eachPeriod } from './periods.ts'
import { values } from './values.tsx'

const ADJECTIVES = eachPeriod(({ adverb }) => `${adverb}e `)
const adjectiveOf = (period: Period | null) => (period === null ? '' : ADJECTIVES[period])

export const user: typeof english = {
  title: (id, called) => (called === null ? `Benutzer ${id}` : `${called} (${id})`),
  mine: { title: 'Meine Kontingente', about: 'Ob gesendet werden kann, was übrig ist und was gesendet wurde.' },
  sections: 'Abschnitte',
  tabs: {
    overview: 'Übersicht',
    reservations: 'Nachrichten',
    denials: 'Ablehnungen',
    transfers: 'Übertragungen',
    changes: 'Änderungen',
    profile: 'Profil',
  },
  giveUnits: 'Einheiten geben',
  newQuota: 'Neues Kontingent',
  block: 'Sperren …',

  blockingCap: {
    stopped: why => `Mehr Einheiten helfen gerade nicht: ${why}.`,
    until: at => <>Platz ist wieder am {at}.</>,
    ownAdvice: 'Soll die Obergrenze selbst steigen, dies im Grund angeben.',
    advice: 'Zur Obergrenze',
    bounded: (cap, now) => `Auch mit mehr Einheiten lässt ${cap} jetzt nur ${formatUnits(now)} durch.`,
  },
  status: {
    label: 'Kann dieser Benutzer senden?',
    ownLabel: 'Kann gesendet werden?',
    can: (isOwn, units) =>
      isOwn ? (
        <>Kann jetzt {units} senden</>
      ) : (
        <>
          <VisuallyHidden>Kann senden: </VisuallyHidden>
          {`jetzt ${units}`}
        </>
      ),
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
    planToCome: (_, plan) => `Mit der ersten Nachricht kommt der Tarif „${plan}“.`,
    blocked: (_, why) => `Gesperrt: ${why}.`,
    blockedUntil: (_, at, why) => (
      <>
        Gesperrt bis {at}: {why}.
      </>
    ),
    startsAt: (_, at) => <>Kann ab {at} senden.</>,
    cap: (period, limit) => `die ${adjectiveOf(period)}Obergrenze von ${formatUnits(limit)}`,
    raised: (period, _, to, until, from) =>
      `Die ${adjectiveOf(period)}Obergrenze ist ${formatUnits(to)} bis ${until}, und danach ${formatUnits(from)}.`,
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
    askForRoom: 'Die Verwaltung kann die Obergrenze anheben.',
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
    liftBlock: 'Sperre aufheben',
    raise: name => `„${name}“ anheben`,
    addUnits: 'Einheiten hinzufügen',
    resume: 'Kontingent fortsetzen',
    create: 'Kontingent anlegen',
  },

  forecast: {
    unlimited: rate => `${rate}, unbegrenzt.`,
    lasts: rate => `${rate}; reicht mehr als ein Jahr.`,
    lastsEachPeriod: rate => `${rate}; bei diesem Verbrauch reichen die Einheiten bis zu jeder Zurücksetzung.`,
    now: rate => `${rate}.`,
    denied: (denied, asked, days) =>
      `In den letzten ${days} Tagen wurden ${formatUnits(denied)} von ${formatUnits(asked)} angefragten Einheiten abgelehnt.`,
    runsOut: (rate, at) => (
      <>
        {rate}; bei diesem Verbrauch endet das Senden um den {at}.
      </>
    ),
    runsOutSoon: rate => `${rate}; bei diesem Verbrauch endet das Senden in wenigen Minuten.`,
    withoutScoped: () => 'Obergrenzen für einzelne Länder oder Nachrichtentypen sind nicht eingerechnet.',
    capStops: (rate, period, _, limit, at) => (
      <>
        {rate}; bei diesem Verbrauch beendet die {adjectiveOf(period)}Obergrenze, die dann wieder {formatUnits(limit)}{' '}
        ist, das Senden um den {at}.
      </>
    ),
  },
  countries: {
    title: 'Einheiten nach Ländern in den letzten 30 Tagen',
    none: 'Keine Nachrichten in den letzten 30 Tagen',
    columns: { country: 'Land', sent: 'Gesendet, Anteil', denied: 'Abgelehnt' },
  },
  quotas: {
    title: 'Kontingente',
    ownTitle: 'Pakete und Obergrenzen',
    openList: 'In der Liste öffnen',
    pastTheEnd: 'Diese Seite liegt hinter dem Ende der Liste.',
    none: 'Noch keine Kontingente',
    ownNone: 'Ohne Kontingent kann nichts gesendet werden. Die Verwaltung kann eines anlegen.',
    noneAbout: 'Ohne Kontingent kann dieser Benutzer nichts senden.',
    createFirst: 'Das erste anlegen',
  },

  reservations: {
    table: 'Nachrichten',
    about: denials => <>Gesendete Nachrichten und solche, die unterwegs sind. Abgelehnte stehen unter {denials}.</>,
    columns: {
      reservation: 'Nachricht',
      state: 'Zustand',
      units: 'Einheiten',
      destination: 'Für',
      chargedTo: 'Bezahlt von',
      created: 'Erstellt',
    },
    filters: {
      state: { label: 'Zustand', all: 'Alle Zustände' },
      chargedTo: 'Bezahlt von',
      allQuotas: 'Alle Kontingente',
      otherQuota: 'Ein anderes Kontingent',
      from: 'Von',
      to: 'Bis',
    },
    until: at => <>Bis {at}</>,
    noCountry: 'Kein Land',
    noQuota: 'Kein Kontingent',
    countedBy: caps => <>gezählt von {caps}</>,
    opening: 'Anfangsbestand',
    transferred: 'Übertragen',
    by: sender => <>von {sender}</>,
    forced: 'Über alle Grenzen',
    requested: units => `${formatUnits(units)} angefragt`,
    committed: units => `${formatUnits(units)} bestätigt`,
    released: units => `${formatUnits(units)} freigegeben`,
    refunded: units => `${formatUnits(units)} erstattet`,
    own: {
      committed: units => `${formatUnits(units)} berechnet`,
      released: units => `${formatUnits(units)} nicht gebraucht`,
      refunded: units => `${formatUnits(units)} zurückgegeben`,
    },
    none: 'Keine Nachrichten',
    noneAbout: 'Nachrichten erscheinen hier, sobald sie reserviert oder gesendet sind.',
    searchingAbout: 'Ältere Nachrichten sind noch nicht durchsucht.',
  },
}
