import { formatPercent, formatUnits } from '../../formats.ts'
import type { overview as english } from '../en/overview.tsx'
import { values } from './values.tsx'

const messages = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`

export const overview: typeof english = {
  title: 'Übersicht',
  about: 'Wer blockiert ist, wem die Einheiten ausgehen, was ungewöhnlich ist. Laufend aktualisiert.',
  live: {
    live: 'Live',
    connecting: 'Verbindung wird aufgebaut…',
    unreachable: 'Nicht live: der Dienst antwortet nicht',
    failed: error => `Nicht live: ${error}`,
  },
  user: id => `Benutzer ${id}`,
  showAll: count => `Alle ${formatUnits(count)} zeigen`,
  showFirst: count => `Die ersten ${formatUnits(count)} zeigen`,
  showMore: 'Mehr zeigen',
  showFewer: 'Weniger zeigen',

  blocked: {
    title: 'Jetzt blockiert',
    about:
      'Benutzer mit einer abgelehnten Nachricht in der letzten Stunde und Benutzer mit einem aufgebrauchten Kontingent. Alle 20 Sekunden wird geprüft, ob sie wieder senden können.',
    bound: 'Unter den letzten 100 Ablehnungen und den letzten 20 aufgebrauchten Kontingenten.',
    paused: 'Angehaltene Ziele',
    exhaustedQuotas: 'Alle aufgebrauchten Kontingente',
    none: 'Niemand ist blockiert',
    noneElse: 'Niemand ist blockiert, außer mit Absicht',
    onPurposeTitle: 'Mit Absicht gesperrt',
    onPurpose: count => `${formatUnits(count)} Benutzer gesperrt, durch eine Pause oder eine Obergrenze von 0`,
    noneAbout: 'In der letzten Stunde wurde keine Nachricht abgelehnt, und kein Kontingent ist aufgebraucht.',
    columns: { user: 'Benutzer', why: 'Warum', denied: 'Abgelehnt in der letzten Stunde', until: 'Bis' },
    latest: message => <>Letzte Nachricht: {message}</>,
    others: units =>
      units === null
        ? 'Andere Nachrichten können gesendet werden'
        : `Andere Nachrichten können gesendet werden: jetzt ${values.units(units)}`,
    untilLifted: 'Bis zur Aufhebung',
    canSendAgain: count => `${formatUnits(count)} Benutzer ${count === 1 ? 'kann' : 'können'} wieder senden`,
    noDenials: 'Keine',
    atLeast: count => `mindestens ${formatUnits(count)}`,
    waitingDoesNotHelp: 'Warten hilft nicht',
    announcement: count => `${formatUnits(count)} Benutzer blockiert`,
  },
  denials: {
    title: 'Abgelehnt in 24 Stunden',
    all: 'Alle Ablehnungen',
    caption: (denied, units) => `${denied === 1 ? 'Nachricht' : 'Nachrichten'}, ${values.units(units)}`,
    chart: (busiest, count) =>
      `Abgelehnte Nachrichten nach Stunde und Grund. ${busiest === null ? 'Keine.' : `Die meisten ab ${busiest}: ${formatUnits(count)}.`}`,
    hour: (start, parts) => `Ab ${start}: ${parts.length === 0 ? 'keine abgelehnt' : parts.join(', ')}`,
    part: (count, reason) => `${formatUnits(count)} ${reason}`,
    announcement: count => `${messages(count)} in 24 Stunden abgelehnt`,
  },
  destinations: {
    titles: {
      country: 'Wohin Nachrichten gehen',
      message_type: 'Wohin Nachrichten gehen',
      sender: 'Woher Nachrichten kommen',
    },
    about:
      'In den letzten 24 Stunden angefragte Einheiten, neben dem Tagesdurchschnitt der 7 Tage davor. Beide zählen Abgelehntes mit. Ungewöhnliche zuerst, außer wo alles abgelehnt wurde.',
    group: 'Gruppieren nach',
    groups: { country: 'Land', message_type: 'Typ', sender: 'Versender' },
    none: 'Keine Nachrichten in den letzten 24 Stunden',
    noneAbout: 'Länder, Nachrichtentypen und Versender erscheinen hier nach der ersten Nachricht.',
    unnamed: { country: 'Kein Land', message_type: 'Kein Typ', sender: 'Der Dienst, oder nicht bekannt' },
    columns: {
      country: 'Land',
      message_type: 'Nachrichtentyp',
      sender: 'Versender',
      asked: 'Angefragt',
      usual: 'Üblich pro Tag angefragt',
      verified: 'Codes eingegeben',
      denied: 'Davon abgelehnt',
    },
    times: (factor, pace) =>
      `${formatUnits(Math.round(factor))}-mal so viel wie üblich${pace === null ? '' : `: ${pace}`}`,
    isNew: pace => `Neu: ${pace}`,
    isNewBefore: 'Neu: keine in den 7 Tagen davor',
    entered: (messages, verified) => `${formatUnits(verified)} von ${formatUnits(messages)}`,
    blockedFor: count => `Gesperrt für ${formatUnits(count)} Benutzer`,
    lastHour: (units, denied) =>
      `${units === 0 ? 'keine' : formatUnits(units)} in der letzten Stunde${denied === 0 ? '' : `, davon ${formatUnits(denied)} abgelehnt`}`,
    who: 'Wer?',
    whoSends: name => `Wer sendet nach ${name}?`,
    whoSendsType: name => `Wer sendet ${name}?`,
    more: count => `${formatUnits(count)} weitere`,
  },
  today: {
    title: 'Heute verbrauchte Einheiten',
    details: { messages: 'Nachrichten', refunded: 'Erstattete Einheiten', unfunded: 'Ungedeckte Einheiten' },
    same: 'Wie gestern',
    times: factor => `${formatUnits(factor)}-mal so viel wie gestern`,
    more: share => `${formatPercent(share)} mehr als gestern`,
    less: share => `${formatPercent(share)} weniger als gestern`,
    compared: (comparison, time, before) => (
      <>
        {comparison} bis {time}: {formatUnits(before)}
      </>
    ),
    noneYesterday: time => <>Gestern bis {time}: 0</>,
    today: 'Heute',
    yesterday: 'Gestern',
    chart: (busiest, units) =>
      `Einheiten nach Stunde, heute und gestern. ${busiest === null ? 'Heute keine.' : `Die meisten ab ${busiest}: ${formatUnits(units)}.`}`,
    hour: (start, today, yesterday) =>
      `Ab ${start}: ${[
        ...(today === null ? [] : [`${formatUnits(today)} heute`]),
        ...(yesterday === null ? [] : [`${formatUnits(yesterday)} gestern`]),
      ].join(', ')}`,
    announcement: count => `${values.units(count)} heute verbraucht`,
  },
  webhooks: {
    title: 'Fehlschlagende Webhooks',
    all: 'Alle Webhooks',
    since: time => <>Alle Versuche schlagen fehl seit {time}</>,
    disabled: {
      failing: 'Vom Dienst abgeschaltet: 3 Tage lang keine Zustellung',
      gone: 'Vom Dienst abgeschaltet: der Empfänger antwortete 410 Gone',
    },
  },
}
