import type { ReactNode } from 'react'

/** The profile of a user. */
export const users = {
  profile: {
    title: 'Profile',
    about: 'What your own system and people call this user.',
    edit: 'Edit the profile',
    none: 'Not set',
    labels: {
      ref: 'Reference',
      name: 'Name',
      email: 'E-mail',
      language: 'Language',
      time_zone: 'Time zone',
      rate_card_id: 'Prices',
    },
    aboutFields: {
      ref: 'The id in your own system, such as a UUID or an account number. Calls can name the user by it. It can be set once.',
      name: 'What people call the user, beside the id in lists and on pages of the console.',
      email:
        'For your own systems. The service writes to users only at an address that they confirm under “My quotas”, and offers them this one.',
      language: 'Of messages to the user, such as en, de or pt-BR.',
      time_zone: 'Of times in messages to the user.',
      rate_card_id: 'A rate card that was negotiated with the user.',
    },
    isFixed: 'It never changes, because calls name the user by it.',
    /** Beside a field that was changed since the dialog was opened, and here. */
    savedMeanwhile: (value: string | null) =>
      value === null
        ? 'Cleared meanwhile. Save again to keep your input.'
        : `Now “${value}”. Save again to replace it.`,
    changedMeanwhile: 'The fields that you have not changed show what is saved now. Check your input and save again.',
    lastChanged: 'Last changed',
    atBy: (at: ReactNode, actor: ReactNode) => (
      <>
        {at} by {actor}
      </>
    ),
    save: 'Save',
    saved: 'The profile is saved.',
    errors: {
      ref: 'Enter 1 to 128 characters without blanks.',
      refTaken: 'Another user has this reference, or had it until a few minutes ago.',
      name: 'Use at most 120 characters.',
      email: 'Enter an address such as ann@example.com.',
      language: 'Enter a language tag such as de or pt-BR.',
      time_zone: 'Choose a time zone of the list.',
      rate_card_id: 'Choose a rate card that is not archived.',
    },
  },
}
