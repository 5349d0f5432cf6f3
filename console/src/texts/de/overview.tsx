import { formatList, formatPercent, formatUnits } from '../../formats.ts'
import type { overview as english } from '../en/overview.tsx'
import { values } from './values.tsx'

const messages = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`
/** „3“, und wenn es mehr sein können „3+“. */
const some = (count: number, isMore: boolean) => `${formatUnits(count)}${isMore ? '+' : ''}`

export const overview: typeof english = {
  title: 'Übersicht',
  live: {
    live: 'Live',
    connecting: 'Verbindung wird aufgebaut…',
    unreachable: 'Nicht live: der Dienst antwortet nicht',
    failed: error => `Nicht live: ${error}`,
  },
  user: id => `Benutzer ${id}`,
  showAll: count => `Alle ${formatUnits(count)} zeigen`,
  showFewer: 'Weniger zeigen',

  strip: {
    title: 'Ist alles in Ordnung?',
    how: 'Wie das festgestellt wird',
    about:
      'Alle 12 Sekunden gelesen. Gefährdete Kunden sind die der Kundenliste, deren Zahlen einige Minuten alt sein können. Ungewöhnlich ist ein Land, wenn in 24 Stunden mindestens 20 Einheiten und das Dreifache eines Durchschnittstags der Woche davor angefragt wurden. + heißt, dass es mehr sein können.',
    allWell: time => `Alles in Ordnung, um ${time}`,
    service: reason => `Der Dienst ist eingeschränkt: ${reason}`,
    unread: parts => `Zurzeit nicht bekannt: ${formatList(parts)}`,
    parts: {
      pauses: 'Pausen',
      breaker: 'die Sicherung',
      webhooks: 'Webhooks',
      customers: 'gefährdete Kunden',
      requests: 'Anfragen',
      destinations: 'ungewöhnliche Länder',
      usage: 'Verbrauch',
      events: 'Aktivität',
    },
    findings: {
      pauses: count => `${formatUnits(count)} ${count === 1 ? 'Pause gilt' : 'Pausen gelten'}`,
      trips: (count, isMore) => `${some(count, isMore)} in 24 Stunden von der Sicherung angehalten`,
      webhooks: count => `${formatUnits(count)} ${count === 1 ? 'Webhook schlägt fehl' : 'Webhooks schlagen fehl'}`,
      blocked: (count, isMore) => `${some(count, isMore)} Kunden gesperrt`,
      near_limit: (count, isMore) => `${some(count, isMore)} Kunden kurz vor dem Limit`,
      running_out: (count, isMore) => `${some(count, isMore)} Kunden gehen die Einheiten aus`,
      ending: (count, isMore) => `${some(count, isMore)} Kunden mit einem Paket, das endet`,
      requests: (count, isMore) => `${some(count, isMore)} ${count === 1 ? 'Anfrage wartet' : 'Anfragen warten'}`,
      unusual: count => `${formatUnits(count)} ${count === 1 ? 'ungewöhnliches Land' : 'ungewöhnliche Länder'}`,
      observed: (count, isMore) => `${some(count, isMore)} von der Sicherung beobachtet`,
    },
  },
  decisions: {
    title: 'Braucht eine Entscheidung',
    open: 'Öffnen',
    decide: 'Entscheiden…',
    look: 'Ansehen',
    pause: 'Anhalten…',
    who: 'Wer?',
    allUsers: 'alle Benutzer',
    tripped: (country, who, until) => (
      <>
        {country}: {who} von der Sicherung angehalten{until !== null && <> bis {until}</>}
      </>
    ),
    observed: (country, who) => (
      <>
        {country}: {who} würde angehalten
      </>
    ),
    codes: count => `${formatUnits(count)} ${count === 1 ? 'Code' : 'Codes'} nicht eingegeben`,
    failingSince: time => <>Alle Versuche schlagen fehl seit {time}</>,
    disabled: {
      failing: 'Vom Dienst abgeschaltet: 3 Tage lang keine Zustellung',
      gone: 'Vom Dienst abgeschaltet: der Empfänger antwortete 410 Gone',
    },
    asks: (who, units) => (
      <>
        {who} bittet um {values.units(units)}
      </>
    ),
    unusual: (country, units) => `${country}: ${values.units(units)} in 24 Stunden angefragt`,
    usual: units => `An einem üblichen Tag: ${units}`,
  },
  atRisk: {
    title: 'Gefährdete Kunden',
    all: 'Alle',
    open: 'Öffnen',
    sendable: units => (units === null ? 'jetzt unbegrenzt' : `jetzt ${formatUnits(units)}`),
    blocked: (messages, reason, until) => (
      <>
        {messages === null ? 'Gesperrt' : `Gesperrt für ${messages}`}: {reason}
        {until !== null && <>, bis {until}</>}
      </>
    ),
    near: (percent, until) => (
      <>
        {percent} verbraucht{until !== null && <>, Zeitraum endet {until}</>}
      </>
    ),
    runningOut: at => <>Aufgebraucht etwa {at}</>,
    ending: at => <>Ein Paket endet {at}</>,
  },
  traffic: 'Wohin Nachrichten gehen, und wer am meisten sendet',
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
    details: {
      messages: 'Nachrichten',
      denied: 'Abgelehnte Nachrichten',
      refunded: 'Erstattete Einheiten',
      unfunded: 'Ungedeckte Einheiten',
    },
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
    sent: 'Gesendet',
    denied: 'Abgelehnt',
    yesterday: 'Gestern gesendet',
    chart: 'Einheiten nach Stunde, heute und gestern',
    hour: (start, today, yesterday) =>
      `Ab ${start}: ${[
        ...(today === null
          ? []
          : [`heute ${formatUnits(today.sent)} gesendet und ${formatUnits(today.denied)} abgelehnt`]),
        ...(yesterday === null ? [] : [`gestern ${formatUnits(yesterday)} gesendet`]),
      ].join(', ')}`,
    announcement: (count, denied) => `${values.units(count)} heute verbraucht, ${messages(denied)} abgelehnt`,
  },
}
