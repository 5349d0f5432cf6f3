import { Anchor } from '@mantine/core'
import type { session as english } from '../en/session.tsx'

export const session: typeof english = {
  or: 'oder',
  signIn: {
    tab: 'Anmelden',
    title: 'Bei sms-quota anmelden',
    byToken: 'Den Anmeldelink öffnen, den man erhalten hat, oder ein Token einfügen.',
    byAccount: 'Mit dem eigenen Konto oder mit einem Token anmelden.',
    aboutTokens: (
      <>
        Das Token bleibt in diesem Tab, bis er geschlossen wird. Programme verwenden dieselben Tokens: siehe{' '}
        <Anchor href="/docs" inherit underline="always">
          API-Dokumentation
        </Anchor>
        .
      </>
    ),
  },
  noAccess: {
    tab: 'Kein Zugriff',
    title: 'Kein Zugriff mit diesem Token',
    about: (subject, isSender) =>
      `Angemeldet als „${subject}“. Die Konsole ist für Benutzer, Administratoren, Prüfer und Support, und dieses Token hat weder eine Benutzer-ID noch eine dieser Rollen${isSender ? ': Es gehört einem Versender' : ''}.`,
    notYet: 'Hier ist noch nichts',
    aboutNotYet: userRef =>
      `Das Konto „${userRef}“ ist hier noch nicht bekannt. Es wird mit der ersten Nachricht oder vom Anbieter eingerichtet.`,
    again: 'Erneut versuchen',
    other: 'Mit anderem Token anmelden',
  },
  ended: {
    title: 'Die Sitzung ist abgelaufen',
    about: 'Bitte erneut anmelden. Alle Eingaben bleiben erhalten.',
    leave: 'Abmelden und diese Seite verlassen',
  },
  offer: {
    tab: 'Anmelden',
    title: name => `Als „${name}“ anmelden?`,
    about: (subject, roles) => (
      <>
        Der geöffnete Link hat das Token von {subject}
        {roles === null ? '' : ` (${roles})`}.
      </>
    ),
    caution:
      'Nur fortfahren, wenn der Link selbst geöffnet wurde und aus einer vertrauten Quelle stammt: Alles Weitere geschieht unter diesem Namen.',
    accept: 'Anmelden',
    decline: 'Nicht anmelden',
  },
  link: {
    title: 'Sitzung ersetzen?',
    about: subject =>
      `Angemeldet als „${subject}“. Der geöffnete Link meldet mit einem anderen Token an. Nur fortfahren, wenn der Link selbst geöffnet wurde und aus einer vertrauten Quelle stammt.`,
    keep: 'Sitzung behalten',
    accept: 'Mit dem Link anmelden',
  },
  tokenForm: {
    label: 'Token',
    about: 'Ein JWT: drei Teile mit Punkten dazwischen, am Anfang „eyJ“.',
    show: 'Token anzeigen',
    submit: 'Anmelden',
    submitSecond: 'Mit diesem Token anmelden',
    empty: 'Zuerst ein Token einfügen.',
    noToken: 'Das ist kein Token: Es enthält Leerzeichen oder ungültige Zeichen.',
    rejected: reason => `${reason} Bitte ein neues Token besorgen.`,
  },
  failed: { title: 'Anmeldung fehlgeschlagen', back: 'Zurück zur Anmeldung' },
  provider: {
    signIn: host => `Anmelden mit ${host}`,
    signInAgain: host => `Erneut anmelden mit ${host}`,
    popupBlocked: 'Der Browser hat das Fenster blockiert. Bitte erlauben oder ein Token einfügen.',
    notStarted: 'In diesem Tab wurde keine Anmeldung begonnen, oder sie ist schon beendet.',
    notConfigured: 'Es ist kein Identitätsanbieter eingerichtet.',
    unreachable: 'Der Identitätsanbieter antwortet nicht. Bitte später erneut versuchen.',
    rejected: reason => `Der Identitätsanbieter hat die Anmeldung abgelehnt: ${reason}`,
    wrongClock: 'Die Uhr dieses Computers weicht von der des Identitätsanbieters ab.',
    mismatch: 'Die Antwort passt nicht zu der Anmeldung, die in diesem Tab begonnen wurde.',
    errors: {
      access_denied: 'Der Zugriff wurde verweigert, oder die Anmeldung wurde abgebrochen.',
      login_required: 'Bitte zuerst beim Identitätsanbieter anmelden.',
      consent_required: 'Der Identitätsanbieter braucht zuerst eine Zustimmung.',
      temporarily_unavailable: 'Der Identitätsanbieter ist vorübergehend nicht verfügbar.',
      invalid_grant: 'Die Anmeldung ist abgelaufen. Bitte erneut versuchen.',
    },
  },
}
