import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'

/** Sign-in, and its end. */
export const session = {
  or: 'or',
  signIn: {
    tab: 'Sign in',
    title: 'Sign in to sms-quota',
    byToken: 'Open the sign-in link that you got, or paste a token.',
    byAccount: 'Sign in with your account or with a token.',
    aboutTokens: (
      <>
        The token is stored in this tab until you close it. Programs use the same tokens: see the{' '}
        <Anchor href="/docs" inherit underline="always">
          API documentation
        </Anchor>
        .
      </>
    ),
  },
  noAccess: {
    tab: 'No access',
    title: 'No access with this token',
    about: (subject: string, isSender: boolean) =>
      `You are signed in as “${subject}”. The console is for users, administrators, auditors and support staff, and this token has neither a user id nor one of their roles${isSender ? ': it is a sender’s token' : ''}.`,
    notYet: 'Nothing here yet',
    aboutNotYet: (userRef: string) =>
      `Your account “${userRef}” is not known here yet. It is set up with its first message, or by your provider.`,
    again: 'Try again',
    other: 'Sign in with another token',
  },
  ended: {
    title: 'Your session has expired',
    about: 'Sign in again to continue. Your input is kept.',
    leave: 'Sign out and leave this page',
  },
  offer: {
    tab: 'Sign in',
    title: (name: string) => `Sign in as “${name}”?`,
    about: (subject: ReactNode, roles: string | null) => (
      <>
        The link that was opened has the token of {subject}
        {roles === null ? '' : ` (${roles})`}.
      </>
    ),
    caution: 'Continue only if you opened it yourself and trust where it came from: what you do is done as this user.',
    accept: 'Sign in',
    decline: 'Do not sign in',
  },
  link: {
    title: 'Replace your session?',
    about: (subject: string) =>
      `You are signed in as “${subject}”. The link that was opened signs in with another token. Continue only if you opened it yourself and trust where it came from.`,
    keep: 'Keep my session',
    accept: 'Sign in with the link',
  },
  tokenForm: {
    label: 'Token',
    about: 'A JWT: three parts separated by dots, starting with “eyJ”.',
    show: 'Show the token',
    submit: 'Sign in',
    submitSecond: 'Sign in with this token',
    empty: 'Paste a token first.',
    noToken: 'This is not a token: it contains spaces or invalid characters.',
    rejected: (reason: string) => `${reason} Get a new one.`,
  },
  failed: { title: 'Sign-in failed', back: 'Back to sign-in' },
  provider: {
    signIn: (host: string) => `Sign in with ${host}`,
    signInAgain: (host: string) => `Sign in again with ${host}`,
    popupBlocked: 'The browser blocked the popup. Allow it, or paste a token.',
    notStarted: 'No sign-in was started in this tab, or it has already ended.',
    notConfigured: 'No identity provider is configured.',
    unreachable: 'The identity provider is not responding. Try again later.',
    rejected: (reason: string) => `The identity provider rejected the sign-in: ${reason}`,
    wrongClock: 'The clock of this computer differs from that of the identity provider.',
    mismatch: 'The response does not match the sign-in that was started in this tab.',
    errors: {
      access_denied: 'Access was denied, or you canceled the sign-in.',
      login_required: 'Sign in at the identity provider first.',
      consent_required: 'The identity provider needs your consent first.',
      temporarily_unavailable: 'The identity provider is temporarily unavailable.',
      invalid_grant: 'The sign-in has expired. Try again.',
    },
  },
}
