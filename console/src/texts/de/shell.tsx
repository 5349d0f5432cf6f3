import type { Texts } from '../en/en.ts'

export const shell: Texts['shell'] = {
  skip: 'Zum Inhalt springen',
  navigation: 'Seiten',
  openNavigation: 'Navigation öffnen',
  closeNavigation: 'Navigation schließen',
  unreachable: 'Der Dienst antwortet nicht. Neue Versuche laufen; die Seite zeigt die zuletzt geladenen Daten.',
  pages: {
    overview: 'Übersicht',
    quotas: 'Kontingente',
    denials: 'Ablehnungen',
    webhooks: 'Webhooks',
    mine: 'Meine Kontingente',
    cost: 'Nachrichtenkosten',
  },
  colorScheme: { label: 'Farbschema', auto: 'Automatisch', light: 'Hell', dark: 'Dunkel' },
  language: 'Sprache',
  account: {
    user: id => `Benutzer ${id}`,
    signedInAs: subject => `Angemeldet als ${subject}`,
    signOut: 'Abmelden',
  },
}
