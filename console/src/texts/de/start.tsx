import { Anchor, Code } from '@mantine/core'
import { formatUnits } from '../../formats.ts'
import type { start as english } from '../en/start.tsx'
import { values } from './values.tsx'

export const start: typeof english = {
  title: 'Erste Schritte',
  about: 'In vier Schritten vom leeren Dienst zur ersten Nachricht.',
  done: '(erledigt)',
  quota: {
    title: 'Kontingent anlegen',
    about:
      'Ein Benutzer darf im Monat so viele Einheiten senden, wie das Kontingent hat. Eine Einheit ist ein Segment einer SMS.',
    user: 'Benutzer-ID',
    units: 'Einheiten im Monat',
    create: 'Kontingent anlegen',
    byPlan: link => <>Oder {link('einen Tarif anlegen')}: Kontingente, die neue Benutzer von selbst bekommen.</>,
    errors: {
      user_id: 'Die Nummer eines Benutzers eingeben: eine ganze Zahl.',
      limit: `Eine ganze Zahl von 0 bis ${formatUnits(10 ** 12)} eingeben.`,
    },
    exists: (quota, user) => (
      <>
        {quota} von Benutzer {user} ist angelegt.
      </>
    ),
  },
  token: {
    title: 'Token für einen Versender erzeugen',
    byCommand:
      'Im Ordner des Dienstes mit dessen Einstellungen ausführen. Das Token gilt eine Stunde und bleibt in dieser Shell.',
    byProvider: (
      <>
        Beim Identitätsanbieter ein Token mit der Rolle <Code>sms-quota:sender</Code> holen und in einer Variablen der
        Shell ablegen.
      </>
    ),
  },
  send: {
    title: 'Nach der ersten Nachricht fragen',
    about:
      'In derselben Shell. Ein Versender fragt vor jeder Nachricht; die Antwort sagt, ob sie gesendet werden darf.',
  },
  arrival: {
    title: 'Die Ankunft sehen',
    waiting: user => `Warten auf eine Nachricht von Benutzer ${user}…`,
    arrived: (message, units) => (
      <>
        Nachricht {message} ist angekommen und kostete {values.units(units)}.
      </>
    ),
    askAgain: 'Jetzt prüfen',
  },
  next: (
    <>
      Das ist alles. Die{' '}
      <Anchor href="/docs" inherit underline="always">
        API-Dokumentation
      </Anchor>{' '}
      zeigt die übrigen Aufrufe für Versender; Webhooks melden anderen Systemen, wenn ein Kontingent zur Neige geht.
    </>
  ),
}
