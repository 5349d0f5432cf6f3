import { formatChange, formatUnits } from '../../formats.ts'
import type { customers as english } from '../en/customers.tsx'

const customersOf = (count: number) => (count === 1 ? '1 Kunde' : `${formatUnits(count)} Kunden`)

export const customers: typeof english = {
  title: 'Kunden',
  about:
    'Was Benutzer jetzt senden können, wie bald das endet, und was sie in 30 Tagen gesendet und nicht bekommen haben.',
  search: { label: 'ID, Referenz oder Name', all: 'Beginnt mit …' },
  views: { label: 'Ansichten', all: 'Alle', at_risk: 'Gefährdet', unmet: 'Wollen mehr, als sie dürfen' },
  aboutViews: {
    at_risk:
      'Die dringendsten zuerst: gesperrt, nahe an einer Grenze, binnen einer Woche verbraucht, oder ein Paket endet binnen einer Woche.',
    unmet:
      'In 30 Tagen abgelehnt, weil Einheiten fehlten oder eine Obergrenze erreicht war, die meisten Einheiten zuerst. Eine Nachricht zählt bei jedem Versuch.',
  },
  state: { label: 'Zustand', all: 'Alle Zustände' },
  plan: { label: 'Tarif', all: 'Alle Tarife' },
  columns: {
    customer: 'Kunde',
    state: 'Zustand',
    sendable: 'Kann senden',
    used: 'Anteil verbraucht',
    sent: 'Gesendet in 30 Tagen',
    denied: 'Anteil abgelehnt',
    growth: 'Wachstum',
    last: 'Letzte Nachricht',
    unmet: 'Fehlende Einheiten',
  },
  states: {
    blocked: 'Gesperrt',
    near_limit: 'Nahe an einer Grenze',
    running_out: 'Bald verbraucht',
    ending: 'Endet bald',
    ok: 'Kann senden',
    blocked_on_purpose: 'Absichtlich gesperrt',
    no_quota: 'Kein Kontingent zählt',
  },
  blockedInPart: 'Teils gesperrt',
  now: units => `${formatUnits(units)} jetzt`,
  nothing: 'jetzt nichts',
  unlimited: 'unbegrenzt',
  until: {
    blocked: at => <>bis {at}</>,
    near_limit: at => <>Zeitraum endet {at}</>,
    running_out: at => <>etwa {at}</>,
    ending: at => <>endet {at}</>,
  },
  daily: most => `Einheiten an jedem der letzten 30 Tage, höchstens ${formatUnits(most)}`,
  grown: percent => `${formatChange(percent)} %`,
  isNew: 'neu',
  never: 'Nie',
  none: 'Noch keine Kunden',
  noneAbout: 'Ein Benutzer erscheint eine Minute nach dem ersten Kontingent oder der ersten Nachricht.',
  noneFound: 'Kein Kunde passt',
  noneAtRisk: 'Kein Kunde ist gefährdet',
  noneUnmet: 'Kein Kunde will mehr, als er darf',
  goOn: 'Bisher wurde keiner gefunden. Die nächste Seite sucht weiter.',
  notFound: 'Kein Benutzer hat eine ID, eine Referenz oder einen Namen mit diesem Anfang',
  notFoundAbout: 'In Referenzen zählt Groß- und Kleinschreibung.',
  unknown: id => `Über Benutzer ${id} ist nichts bekannt`,
  unknownAbout:
    'Benutzer gehören einem anderen System: die Nummer dort prüfen. Mit dem ersten Kontingent ist der Benutzer hier bekannt.',
  createFor: id => `Neues Kontingent für Benutzer ${id}`,
  more: 'Weitere Benutzer passen. Mehr eingeben.',
  age: {
    title: 'Wie alt diese Zahlen sind',
    now: 'Was ein Kunde senden kann, der Zustand und der verbrauchte Anteil sind von jetzt.',
    until: at => (
      <>
        Alles andere und die Reihenfolge enthalten, was bis {at} geschah. Die 30 Tage enden, als die Zahlen eines Kunden
        berechnet wurden, höchstens vor einem Tag.
      </>
    ),
    incomplete: 'Der Dienst hat noch nicht alle Benutzer angesehen: einige fehlen.',
  },
  exporting: {
    button: 'CSV exportieren',
    running: count => `${customersOf(count)} exportiert …`,
    done: count => `${customersOf(count)} exportiert.`,
    cancel: 'Export anhalten',
  },
}
