import { Anchor, Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

/** The first run: what to do with an empty service. */
export const start = {
  title: 'Get started',
  about: 'From an empty service to the first message in four steps.',
  done: '(done)',
  quota: {
    title: 'Create a quota',
    about: 'A user may send as many units a month as the quota has. A unit is a segment of an SMS.',
    user: 'User id',
    units: 'Units a month',
    create: 'Create quota',
    byPlan: (link: (text: string) => ReactNode) => (
      <>Or {link('make a plan')}: quotas that new users get by themselves.</>
    ),
    errors: {
      user_id: 'Enter the id of a user: a whole number.',
      limit: `Enter a whole number from 0 to ${formatUnits(10 ** 12)}.`,
    },
    exists: (quota: ReactNode, user: number) => (
      <>
        {quota} of user {user} exists.
      </>
    ),
  },
  token: {
    title: 'Make a token for a sender',
    byCommand:
      'Run this in the folder of the service, with its settings. The token is valid for an hour and stays in this shell.',
    byProvider: (
      <>
        Get a token with the role <Code>sms-quota:sender</Code> from the identity provider, and keep it in a variable of
        the shell.
      </>
    ),
  },
  send: {
    title: 'Ask for the first message',
    about: 'In the same shell. A sender asks before each message; the answer says whether it may leave.',
  },
  arrival: {
    title: 'See it arrive',
    waiting: (user: number) => `Waiting for a message of user ${user}…`,
    arrived: (message: ReactNode, units: number) => (
      <>
        Message {message} has arrived and took {values.units(units)}.
      </>
    ),
    askAgain: 'Check now',
  },
  next: (
    <>
      That is all. The{' '}
      <Anchor href="/docs" inherit underline="always">
        API documentation
      </Anchor>{' '}
      has the other calls of senders; webhooks tell other systems when a quota runs out.
    </>
  ),
}
