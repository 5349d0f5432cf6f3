import type { ReactNode } from 'react'
import { formatList, formatTimestamp, formatUnits } from '../../formats.ts'

const messagesOf = (count: number) => (count === 1 ? '1 message' : `${formatUnits(count)} messages`)

/** The messages of all users. */
export const messages = {
  title: 'Messages',
  about:
    'Sent and denied messages of all users, newest first. Open one to see what happened to it, or why it was denied.',
  table: 'Messages',
  columns: {
    message: 'Message',
    user: 'User',
    time: 'Time',
    state: 'State',
    units: 'Units',
    destination: 'For',
    sender: 'Sender',
  },
  denied: 'Denied',
  state: { label: 'State', all: 'All states' },
  none: 'No messages',
  noneAbout: 'Messages appear here when they are reserved, sent or denied.',
  searched: (at: ReactNode) => <>Searched back to {at}. “Older” goes on from there.</>,
  /** Bars above the list. */
  histogram: {
    counted: (sent: number, denied: number) => `${formatUnits(sent)} sent, ${formatUnits(denied)} denied`,
    ofDay: (counted: string) => `In 24 hours: ${counted}`,
    chart: (counted: string) => `By time: ${counted}`,
    bar: (start: string, sent: number, denied: number) =>
      `From ${start}: ${formatUnits(sent)} sent, ${formatUnits(denied)} denied`,
    hint: 'Drag over the bars to choose a time',
  },
  exporting: {
    button: 'Export CSV',
    running: (count: number) => `${messagesOf(count)} read…`,
    /** @param states such as "14 Denied" */
    done: (count: number, states: readonly string[], until: string | null) =>
      until === null
        ? `${messagesOf(count)} exported${states.length > 1 ? `: ${formatList(states)}` : ''}.`
        : `The newest ${messagesOf(count)} exported, back to ${formatTimestamp(until)}. For older ones, choose an earlier end.`,
    cancel: 'Stop the export',
  },
}
