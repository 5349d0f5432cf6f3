import { formatList, formatTimestamp, formatUnits } from '../../formats.ts'
import type { messages as english } from '../en/messages.tsx'

const messagesOf = (count: number) => (count === 1 ? '1 Nachricht' : `${formatUnits(count)} Nachrichten`)

export const messages: typeof english = {
  title: 'Nachrichten',
  about:
    'Gesendete und abgelehnte Nachrichten aller Benutzer, neueste zuerst. Eine öffnen zeigt, was mit ihr geschah oder warum sie abgelehnt wurde.',
  table: 'Nachrichten',
  columns: {
    message: 'Nachricht',
    user: 'Benutzer',
    time: 'Zeit',
    state: 'Zustand',
    units: 'Einheiten',
    destination: 'Für',
    sender: 'Versender',
  },
  denied: 'Abgelehnt',
  state: { label: 'Zustand', all: 'Alle Zustände' },
  none: 'Keine Nachrichten',
  noneAbout: 'Nachrichten erscheinen hier, wenn sie reserviert, gesendet oder abgelehnt werden.',
  searched: at => <>Durchsucht bis {at}. „Ältere“ geht von dort weiter.</>,
  histogram: {
    counted: (sent, denied) => `${formatUnits(sent)} gesendet, ${formatUnits(denied)} abgelehnt`,
    ofDay: counted => `In 24 Stunden: ${counted}`,
    chart: counted => `Nach Zeit: ${counted}`,
    bar: (start, sent, denied) => `Ab ${start}: ${formatUnits(sent)} gesendet, ${formatUnits(denied)} abgelehnt`,
    hint: 'Über die Balken ziehen, um eine Zeit zu wählen',
  },
  exporting: {
    button: 'CSV exportieren',
    running: count => `${messagesOf(count)} gelesen …`,
    done: (count, states, until) =>
      until === null
        ? `${messagesOf(count)} exportiert${states.length > 1 ? `: ${formatList(states)}` : ''}.`
        : `Die neuesten ${messagesOf(count)} exportiert, bis zurück zu ${formatTimestamp(until)}. Für ältere ein früheres Ende wählen.`,
    cancel: 'Export anhalten',
  },
}
