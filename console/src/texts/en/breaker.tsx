import { Anchor, Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatPercent, formatUnits } from '../../formats.ts'

const count = (number: number, one: string, many: string) => `${formatUnits(number)} ${number === 1 ? one : many}`

/** The breaker against pumped codes. */
export const breaker = {
  title: 'Breaker against pumped codes',
  about: 'Pauses a destination of a user to which codes are sent that no person enters.',
  modes: { off: 'Off', observe: 'Observe', enforce: 'Enforce' },
  aboutModes: {
    off: 'Nothing is counted.',
    observe: 'What would be paused is listed, and is an event. No message is denied.',
    enforce:
      'Destinations over their budget are paused: for an hour, and longer if it happens again. Users without feedback are only observed.',
  },
  coverage: {
    title: 'Which users it can judge',
    notJudged:
      'No user who sends codes has been counted yet. They are counted every quarter of an hour, unless the breaker is off.',
    counts: (withFeedback: number, without: number) =>
      `Of the users who send codes, ${formatUnits(withFeedback)} had feedback in the last 24 hours, and ${formatUnits(without)} had none.`,
    none: 'No user gives feedback, so nothing would be paused: each code would look pumped.',
    without: 'Without feedback, a user is only observed. Those who sent most:',
    sent: (messages: number) => count(messages, 'message', 'messages'),
    howTo: (
      <>
        A sender reports each code that was entered, with <Code>POST /api/sms/sender/quota/feedback</Code>. The guide is{' '}
        <Code>docs/guides/stop-pumping.md</Code>; the call is in the{' '}
        <Anchor href="/docs" inherit underline="always">
          API documentation
        </Anchor>
        .
      </>
    ),
  },
  form: {
    title: 'Settings',
    mode: 'Mode',
    types: 'Message types that are watched',
    typesAbout: 'Empty: those of the setting BREAKER_MESSAGE_TYPES.',
    budgets: 'Budgets',
    budgetsAbout: 'Codes from one user to one country that may stay without being entered. More are a reason to pause.',
    labels: {
      day: 'In 24 hours',
      hour: 'In an hour',
      flight: 'In 5 minutes',
      share: 'Part of the entered codes, in %',
    },
    aboutBudgets: {
      day: (usual: string) => `By default ${usual}.`,
      hour: (usual: string) => `By default ${usual}.`,
      flight: (usual: string) => `These may still be entered. By default ${usual}.`,
      share: (usual: string) => `Where that is more than the numbers above. By default ${usual}.`,
    },
    countries: 'Countries that always pass',
    users: 'Users who always pass',
    usersAbout: 'An id, or the beginning of a reference or a name.',
    none: 'None',
    more: (number: number) => `and ${formatUnits(number)} more`,
    errors: {
      budget: (max: number) => `A whole number from 1 to ${formatUnits(max)}.`,
      share: 'A number from 0 to 100.',
      message_types: 'Up to 64 lower-case letters, digits, _ and - each.',
    },
    effects: {
      begins:
        'Once this is saved, messages are denied. A destination over its budget is paused within seconds, some at once: what was sent in the last 24 hours counts. A pause lasts an hour, and twice as long if it happens again within a day. Users without feedback are only observed.',
      ends: 'Once this is saved, nothing more is paused. Pauses that hold now stay until they end or are lifted.',
    },
    save: 'Save',
    discard: 'Discard changes',
    saved: 'Saved. It holds within seconds.',
    changedMeanwhile: 'What was saved meanwhile stands beside the fields. Save again to replace it.',
    savedMeanwhile: (value: string) => `Saved meanwhile: ${value}. Saving replaces it.`,
  },
  replay: {
    title: 'What would it have paused?',
    about:
      'Replays the past with the settings above, saved or not, for users with feedback. It changes nothing. Quarters of an hour are judged at their end, up to 15 minutes later than live.',
    days: 'Days',
    dayChoice: (number: number) => count(number, 'day', 'days'),
    type: 'Message type',
    start: 'Replay',
    again: 'Replay again',
    states: {
      running: 'Reading the past…',
      waiting: 'The service is not responding. Trying again…',
      paused: 'Stopped before the end',
      failed: 'Stopped by an error',
      done: 'Replayed',
    },
    progress: (part: number) => `${formatPercent(part)} of the users read`,
    stop: 'Stop',
    continue: 'Continue',
    none: 'These settings would have paused nothing.',
    noneYet: 'Nothing so far.',
    result: (destinations: number, pauses: number, stopped: number, entered: number) =>
      `Would have paused ${count(destinations, 'destination', 'destinations')}${pauses === destinations ? '' : `, ${formatUnits(pauses)} times in all`}, and stopped ${count(stopped, 'message', 'messages')}. ${entered === 0 ? 'None of them was entered.' : `${formatUnits(entered)} of them ${entered === 1 ? 'was' : 'were'} entered: people who would have got no code.`}`,
    isOther: 'The settings have changed since this replay.',
    table: 'Pauses of the replay',
    first: (listed: number, pauses: number) =>
      `The ${formatUnits(listed)} of ${formatUnits(pauses)} that would have stopped most entered codes.`,
    columns: { from: 'When', user: 'For', country: 'Country', stopped: 'Stopped', entered: 'Of them entered' },
    period: (from: ReactNode, until: ReactNode) => (
      <>
        {from} – {until}
      </>
    ),
  },
}
