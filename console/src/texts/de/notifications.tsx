import type { notifications as english } from '../en/notifications.tsx'

export const notifications: typeof english = {
  title: 'Nachrichten per E-Mail',
  about:
    'Wenn sich Ihre Kontingente ändern, fast verbraucht sind oder ablaufen, und wenn über Anfragen entschieden ist: höchstens eine Nachricht in der Minute.',
  statuses: {
    none: () => 'Sie erhalten keine Nachrichten.',
    pending: email => `Folgen Sie dem Link, der an ${email} gegangen ist. Er gilt einen Tag.`,
    confirmed: email => `Nachrichten gehen an ${email}.`,
    refused: email => `Der Mailserver von ${email} hat eine Nachricht abgelehnt, deshalb geht keine mehr dorthin.`,
  },
  email: 'E-Mail-Adresse',
  language: 'Sprache',
  languages: { en: 'Englisch', de: 'Deutsch' },
  errors: { email: 'Geben Sie eine E-Mail-Adresse ein.' },
  send: 'Link senden',
  save: 'Speichern',
  stop: 'Beenden',
  links: {
    confirm: {
      title: 'E-Mail-Adresse bestätigen',
      about: 'Nachrichten zu Ihren SMS-Kontingenten gehen dann an die Adresse, die diesen Link erhalten hat.',
      submit: 'Bestätigen',
      done: 'Die Adresse ist bestätigt. Sie können diese Seite schließen.',
    },
    stop: {
      title: 'Nachrichten beenden',
      about:
        'An die Adresse, die diesen Link erhalten hat, gehen dann keine Nachrichten zu Ihren SMS-Kontingenten mehr.',
      submit: 'Beenden',
      done: 'Sie erhalten keine Nachrichten mehr. Sie können diese Seite schließen.',
    },
  },
  outdated:
    'Dieser Link gilt nicht mehr: Er ist zu alt, die Adresse wurde zurückgenommen, oder eine andere ist an ihre Stelle getreten.',
}
