/** Messages about the own quotas by e-mail. */
export const notifications = {
  title: 'Messages by e-mail',
  about:
    'When your quotas change, are nearly used up or expire, and when requests are decided: at most a message a minute.',
  statuses: {
    none: () => 'You get no messages.',
    pending: (email: string) => `Follow the link that was sent to ${email}. It is valid for a day.`,
    confirmed: (email: string) => `Messages go to ${email}.`,
    refused: (email: string) => `The mail server of ${email} refused a message, so none goes there.`,
  },
  email: 'E-mail address',
  language: 'Language',
  languages: { en: 'English', de: 'German' },
  errors: { email: 'Enter an e-mail address.' },
  send: 'Send a link',
  save: 'Save',
  stop: 'Stop',
  links: {
    confirm: {
      title: 'Confirm your e-mail address',
      about: 'Messages about your SMS quotas will go to the address that got this link.',
      submit: 'Confirm',
      done: 'The address is confirmed. You can close this page.',
    },
    stop: {
      title: 'Stop messages',
      about: 'No more messages about your SMS quotas will go to the address that got this link.',
      submit: 'Stop',
      done: 'You get no more messages. You can close this page.',
    },
  },
  outdated:
    'This link does not hold any more: it is too old, the address was taken back, or another one has replaced it.',
}
