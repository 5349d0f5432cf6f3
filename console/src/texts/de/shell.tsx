import type { shell as english } from '../en/shell.tsx'

export const shell: typeof english = {
  skip: 'Zum Inhalt springen',
  navigation: 'Seiten',
  openNavigation: 'Navigation öffnen',
  closeNavigation: 'Navigation schließen',
  loading: 'Wird geladen…',
  unreachable: 'Der Dienst antwortet nicht. Neue Versuche laufen; die Seite zeigt die zuletzt geladenen Daten.',
  pages: {
    overview: 'Übersicht',
    quotas: 'Kontingente',
    plans: 'Tarife',
    denials: 'Ablehnungen',
    webhooks: 'Webhooks',
    mine: 'Meine Kontingente',
    cost: 'Nachrichtenkosten',
    users: 'Benutzer',
  },
  opening: {
    tab: 'Anmeldung',
    text: 'Anmeldung läuft…',
    unreachable: 'Der Dienst antwortet nicht. Neuer Versuch läuft…',
  },
  differentUser: subject => `Dieses Token gehört nicht „${subject}“. Für einen anderen Benutzer zuerst abmelden.`,
  search: 'Suchen',
  controlK: 'Strg K',
  colorScheme: { label: 'Farbschema', auto: 'Wie im System', light: 'Hell', dark: 'Dunkel' },
  language: 'Sprache',
  account: {
    label: 'Konto:',
    user: id => `Benutzer ${id}`,
    signedInAs: subject => `Angemeldet als ${subject}`,
    docs: 'API-Dokumentation',
    signOut: 'Abmelden',
  },
  copying: {
    copy: 'Kopieren',
    copied: 'Kopiert.',
    refused: 'Der Browser erlaubt das Kopieren nicht. Bitte den Text markieren und kopieren.',
  },
  roles: {
    admin: 'Administrator',
    sender: 'Versender',
    auditor: 'Prüfer',
    support: 'Support',
    force: 'Darf über Grenzen hinaus senden',
  },
}
