import type { users as english } from '../en/users.tsx'

export const users: typeof english = {
  profile: {
    title: 'Profil',
    about: 'Wie das eigene System und Menschen diesen Benutzer nennen.',
    edit: 'Profil bearbeiten',
    none: 'Nicht gesetzt',
    labels: {
      ref: 'Referenz',
      name: 'Name',
      email: 'E-Mail',
      language: 'Sprache',
      time_zone: 'Zeitzone',
      rate_card_id: 'Preise',
    },
    aboutFields: {
      ref: 'Die ID im eigenen System, etwa eine UUID oder Kontonummer. Aufrufe können den Benutzer so nennen. Sie kann einmal gesetzt werden.',
      name: 'Wie Menschen den Benutzer nennen, neben der ID in Listen und auf Seiten der Konsole.',
      email:
        'Für eigene Systeme. Der Dienst schreibt Benutzern nur an eine Adresse, die sie unter „Meine Kontingente“ bestätigen, und schlägt ihnen diese vor.',
      language: 'Der Mitteilungen an den Benutzer, etwa en, de oder pt-BR.',
      time_zone: 'Der Zeiten in Mitteilungen an den Benutzer.',
      rate_card_id: 'Eine Preisliste, die mit dem Benutzer vereinbart ist.',
    },
    isFixed: 'Sie ändert sich nie, weil Aufrufe den Benutzer so nennen.',
    savedMeanwhile: value =>
      value === null
        ? 'Inzwischen geleert. Erneut speichern, um die Eingabe zu behalten.'
        : `Jetzt „${value}“. Erneut speichern, um es zu ersetzen.`,
    changedMeanwhile: 'Nicht geänderte Felder zeigen den jetzigen Stand. Eingaben prüfen und erneut speichern.',
    lastChanged: 'Zuletzt geändert',
    atBy: (at, actor) => (
      <>
        {at} von {actor}
      </>
    ),
    save: 'Speichern',
    saved: 'Das Profil ist gespeichert.',
    errors: {
      ref: '1 bis 128 Zeichen ohne Leerzeichen eingeben.',
      refTaken: 'Ein anderer Benutzer hat diese Referenz, oder hatte sie bis vor wenigen Minuten.',
      name: 'Höchstens 120 Zeichen verwenden.',
      email: 'Eine Adresse wie ann@example.com eingeben.',
      language: 'Ein Sprachkürzel wie de oder pt-BR eingeben.',
      time_zone: 'Eine Zeitzone der Liste wählen.',
      rate_card_id: 'Eine Preisliste wählen, die nicht archiviert ist.',
    },
  },
}
