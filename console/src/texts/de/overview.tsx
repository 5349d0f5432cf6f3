import { formatPercent, formatUnits } from '../../formats.ts'
import type { Texts } from '../en/en.ts'
import { values } from './values.tsx'

const messages = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`

export const overview: Texts['overview'] = {
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
  showFewer: 'Weniger zeigen',

  blocked: {
    title: 'Jetzt blockiert',
    about:
      'Benutzer mit einer abgelehnten Nachricht in der letzten Stunde und Benutzer mit einem Kontingent, das 100 % erreicht hat. Ihre anderen Nachrichten werden vielleicht noch gesendet: siehe Benutzer.',
    bound: 'Unter den letzten 100 Ablehnungen und den letzten 20 aufgebrauchten Kontingenten.',
    usedUpQuotas: 'Alle aufgebrauchten Kontingente',
    none: 'Niemand ist blockiert',
    noneAbout: 'In der letzten Stunde wurde keine Nachricht abgelehnt, und kein Kontingent ist aufgebraucht.',
    columns: { user: 'Benutzer', why: 'Warum', denied: 'Abgelehnt in der letzten Stunde', until: 'Bis' },
    latest: message => <>Zuletzt: {message}</>,
    usedUp: 'Aufgebraucht',
    noDenials: 'Keine',
    waitingDoesNotHelp: 'Warten hilft nicht',
    announcement: count => `${formatUnits(count)} Benutzer blockiert`,
  },
  runningOut: {
    title: 'Diese Woche aufgebraucht',
    about:
      'Bei gleichbleibendem Tagesverbrauch. Unter den 20 Benutzern, die in den letzten 7 Tagen am meisten gesendet haben, und denen kurz vor einem Limit.',
    none: 'Niemandem gehen in 7 Tagen die Einheiten aus',
    noneAbout: 'Eine Prognose braucht eine Woche Verbrauch.',
    columns: { user: 'Benutzer', runsOut: 'Aufgebraucht etwa', rate: 'Einheiten pro Tag', left: 'Jetzt übrig' },
  },
  near: {
    title: 'Kurz vor dem Limit',
    about: 'Kontingente, die eine Warnschwelle erreicht haben, normalerweise 80 %.',
    more: 'Weitere Kontingente haben eine Warnschwelle erreicht.',
    none: 'Kein Kontingent ist kurz vor dem Limit',
    noneAbout: 'Kontingente erscheinen hier, wenn sie eine Warnschwelle erreichen, normalerweise 80 %.',
    columns: { quota: 'Kontingent', used: 'Verbraucht', usage: 'Verbrauch', resets: 'Beginnt neu', ends: 'Endet' },
    never: 'Nie',
  },
  ending: {
    title: 'Enden diese Woche',
    about: 'Die mit den meisten übrigen Einheiten zuerst.',
    all: 'Alle, die in 7 Tagen enden',
    none: 'Kein Kontingent endet in 7 Tagen',
    columns: { quota: 'Kontingent', left: 'Übrig', usage: 'Verbrauch', ends: 'Endet' },
    bound: count => `Von den ${formatUnits(count)}, die zuerst enden.`,
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
    title: 'Wohin Nachrichten gehen',
    about:
      'In den letzten 24 Stunden verlangte Einheiten, bewilligt oder abgelehnt, neben dem Tagesdurchschnitt der 7 Tage davor. Ungewöhnliche zuerst.',
    group: 'Gruppieren nach',
    groups: { country: 'Land', message_type: 'Typ' },
    none: 'Keine Nachrichten in den letzten 24 Stunden',
    noneAbout: 'Länder und Nachrichtentypen erscheinen hier nach der ersten Nachricht.',
    noCountry: 'Kein Land',
    noType: 'Kein Typ',
    columns: {
      country: 'Land',
      message_type: 'Nachrichtentyp',
      asked: 'Einheiten',
      usual: 'Üblicher Tag',
      denied: 'Abgelehnt',
    },
    times: factor => `${formatUnits(Math.round(factor))}-mal so viel wie üblich`,
    isNew: 'Neu: keine in den 7 Tagen davor',
    who: 'Wer?',
    whoSends: name => `Wer sendet nach ${name}?`,
    whoSendsType: name => `Wer sendet ${name}?`,
    more: count => `${formatUnits(count)} weitere`,
  },
  senders: {
    about:
      'Die letzten 24 Stunden, unter den 10 Benutzern, die am meisten gesendet haben, und den Benutzern der letzten 50 Ablehnungen.',
    none: 'Keiner dieser Benutzer sendet dorthin',
    table: 'Benutzer, die dorthin senden',
    columns: { user: 'Benutzer', sent: 'Gesendete Einheiten', denied: 'Abgelehnte Einheiten', action: 'Aktion' },
    cap: name => `${name} begrenzen`,
    capFor: (name, user) => `${name} für Benutzer ${user} begrenzen`,
  },
  today: {
    title: 'Heute verbrauchte Einheiten',
    details: { messages: 'Nachrichten', refunded: 'Erstattete Einheiten', unfunded: 'Ungedeckte Einheiten' },
    none: 'Gestern keine',
    same: 'Wie gestern',
    times: factor => `${formatUnits(factor)}-mal so viel wie gestern`,
    more: share => `${formatPercent(share)} mehr als gestern`,
    less: share => `${formatPercent(share)} weniger als gestern`,
    compared: (comparison, time, before) => (
      <>
        {comparison} bis {time}
        {before > 0 && `: ${formatUnits(before)}`}
      </>
    ),
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
  top: {
    title: 'Größte Benutzer',
    period: 'Zeitraum',
    periods: { today: 'Heute', week: '7 Tage' },
    none: { today: 'Heute keine Nachrichten', week: 'Keine Nachrichten in den letzten 7 Tagen' },
    noneAbout: 'Benutzer erscheinen hier nach ihrer ersten Nachricht.',
    columns: { user: 'Benutzer', units: 'Einheiten', messages: 'Nachrichten', denied: 'Abgelehnt' },
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
  activity: {
    title: 'Ereignisse',
    none: 'Noch keine Ereignisse',
    noneAbout: 'Änderungen von Kontingenten, Warnungen und Abläufe erscheinen hier von selbst.',
    since: (count, time) => (
      <>
        {count === 0 ? 'Keine neuen Ereignisse' : `${formatUnits(count)} neue`} seit {time}
      </>
    ),
    showing: count => `; die letzten ${formatUnits(count)} sind gezeigt`,
    skipped: '. Einige Ereignisse wurden übersprungen',
    announcement: (count, latest) =>
      `${formatUnits(count)} ${count === 1 ? 'neues Ereignis' : 'neue Ereignisse'}${latest === null ? '' : `, zuletzt: ${latest}`}`,
    group: (count, what) => `${formatUnits(count)} × ${what}`,
    kinds: {
      created: actor => `Kontingent angelegt durch ${actor}`,
      updated: actor => `Kontingent geändert durch ${actor}`,
      deleted: actor => `Kontingent gelöscht durch ${actor}`,
      threshold: percent => `Warnschwelle erreicht: ${percent} %`,
      exhausted: 'Kontingent erschöpft',
      ended: 'Kontingent abgelaufen',
      expired: 'Reservierung abgelaufen',
      disabled: 'Webhook abgeschaltet',
      erased: 'Benutzer gelöscht',
    },
    usersOf: (links, more) => (
      <>
        Benutzer {links}
        {more > 0 && ` und ${formatUnits(more)} weitere`}
      </>
    ),
  },
  events: {
    quota: id => `Kontingent ${id}`,
    reservation: id => `Reservierung ${id}`,
    webhook: id => `Webhook ${id}`,
    created: (actor, allowance) => `angelegt durch ${actor}: ${allowance}`,
    updated: (actor, allowance) => `geändert durch ${actor}: jetzt ${allowance}`,
    deleted: actor => `gelöscht durch ${actor}`,
    exhausted: 'erschöpft',
    reached: (percent, remaining) =>
      `hat ${percent} % erreicht${remaining === null ? '' : `: ${values.units(remaining)} übrig`}`,
    ended: 'abgelaufen',
    expiredCommitted: units => `abgelaufen, ${values.units(units)} bestätigt`,
    expiredReleased: units => `abgelaufen, ${values.units(units)} freigegeben`,
    disabledGone: 'abgeschaltet: der Empfänger antwortete 410 Gone',
    disabledFailing: 'abgeschaltet: alle Zustellungen schlugen fehl',
    erased: 'gelöscht',
    unlimited: 'unbegrenzt',
    each: { hour: ' pro Stunde', day: ' pro Tag', week: ' pro Woche', month: ' pro Monat', year: ' pro Jahr' },
    suspended: ', ausgesetzt',
  },
}
