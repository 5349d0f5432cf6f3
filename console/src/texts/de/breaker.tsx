import { Anchor, Code } from '@mantine/core'
import { formatPercent, formatUnits } from '../../formats.ts'
import type { breaker as english } from '../en/breaker.tsx'

const count = (number: number, one: string, many: string) => `${formatUnits(number)} ${number === 1 ? one : many}`

export const breaker: typeof english = {
  title: 'Sicherung gegen gepumpte Codes',
  about: 'Hält ein Ziel eines Benutzers an, wenn dorthin Codes gehen, die kein Mensch eingibt.',
  modes: { off: 'Aus', observe: 'Beobachten', enforce: 'Durchsetzen' },
  aboutModes: {
    off: 'Nichts wird gezählt.',
    observe: 'Was angehalten würde, steht in der Liste und ist ein Ereignis. Keine Nachricht wird abgelehnt.',
    enforce:
      'Ziele über ihren Grenzen werden angehalten: für eine Stunde, und länger, wenn es wieder geschieht. Benutzer ohne Rückmeldungen werden nur beobachtet.',
  },
  coverage: {
    title: 'Welche Benutzer sie beurteilen kann',
    notJudged:
      'Noch wurde kein Benutzer gezählt, der Codes sendet. Sie werden jede Viertelstunde gezählt, außer wenn die Sicherung aus ist.',
    counts: (withFeedback, without) =>
      `Von den Benutzern, die Codes senden, hatten ${formatUnits(withFeedback)} in den letzten 24 Stunden Rückmeldungen und ${formatUnits(without)} keine.`,
    none: 'Kein Benutzer gibt Rückmeldungen, also würde nichts angehalten: Jeder Code sähe gepumpt aus.',
    without: 'Ohne Rückmeldungen wird ein Benutzer nur beobachtet. Die mit den meisten Nachrichten:',
    sent: messages => count(messages, 'Nachricht', 'Nachrichten'),
    howTo: (
      <>
        Ein Versender meldet jeden eingegebenen Code mit <Code>POST /api/sms/sender/quota/feedback</Code>. Die Anleitung
        ist <Code>docs/guides/stop-pumping.md</Code>; der Aufruf steht in der{' '}
        <Anchor href="/docs" inherit underline="always">
          API-Dokumentation
        </Anchor>
        .
      </>
    ),
  },
  form: {
    title: 'Einstellungen',
    mode: 'Modus',
    types: 'Beobachtete Nachrichtentypen',
    typesAbout: 'Leer: die der Einstellung BREAKER_MESSAGE_TYPES.',
    budgets: 'Grenzen',
    budgetsAbout:
      'Codes eines Benutzers in ein Land, die ohne Eingabe bleiben dürfen. Mehr sind ein Grund, das Ziel anzuhalten.',
    labels: {
      day: 'In 24 Stunden',
      hour: 'In einer Stunde',
      flight: 'In 5 Minuten',
      share: 'Teil der eingegebenen Codes, in %',
    },
    aboutBudgets: {
      day: usual => `Voreinstellung ${usual}.`,
      hour: usual => `Voreinstellung ${usual}.`,
      flight: usual => `Sie können noch eingegeben werden. Voreinstellung ${usual}.`,
      share: usual => `Wo das mehr ist als die Zahlen oben. Voreinstellung ${usual}.`,
    },
    countries: 'Länder, die immer durchgehen',
    users: 'Benutzer, die immer durchgehen',
    usersAbout: 'Eine ID, oder der Anfang einer Referenz oder eines Namens.',
    none: 'Keine',
    more: number => `und ${formatUnits(number)} weitere`,
    errors: {
      budget: max => `Eine ganze Zahl von 1 bis ${formatUnits(max)}.`,
      share: 'Eine Zahl von 0 bis 100.',
      message_types: 'Je bis zu 64 Kleinbuchstaben, Ziffern, _ und -.',
    },
    effects: {
      begins:
        'Mit dem Speichern werden Nachrichten abgelehnt. Ein Ziel über seinen Grenzen wird in Sekunden angehalten, manches sofort: Was in den letzten 24 Stunden gesendet wurde, zählt mit. Das dauert eine Stunde, und doppelt so lange, wenn es innerhalb eines Tages wieder geschieht. Benutzer ohne Rückmeldungen werden nur beobachtet.',
      ends: 'Mit dem Speichern wird nichts mehr angehalten. Was angehalten ist, bleibt es, bis es endet oder freigegeben wird.',
    },
    save: 'Speichern',
    discard: 'Änderungen verwerfen',
    saved: 'Gespeichert. Das gilt nach Sekunden.',
    changedMeanwhile: 'Was inzwischen gespeichert wurde, steht bei den Feldern. Erneutes Speichern ersetzt es.',
    savedMeanwhile: value => `Inzwischen gespeichert: ${value}. Speichern ersetzt es.`,
  },
  replay: {
    title: 'Was hätte sie angehalten?',
    about:
      'Wiederholt die Vergangenheit mit den Einstellungen oben, ob gespeichert oder nicht, für Benutzer mit Rückmeldungen. Nichts wird geändert. Viertelstunden werden an ihrem Ende beurteilt, bis zu 15 Minuten später als im Betrieb.',
    days: 'Tage',
    dayChoice: number => count(number, 'Tag', 'Tage'),
    type: 'Nachrichtentyp',
    start: 'Wiederholen',
    again: 'Noch einmal',
    states: {
      running: 'Die Vergangenheit wird gelesen…',
      waiting: 'Der Dienst antwortet nicht. Neuer Versuch läuft…',
      paused: 'Vor dem Ende gestoppt',
      failed: 'Durch einen Fehler gestoppt',
      done: 'Wiederholt',
    },
    progress: part => `${formatPercent(part)} der Benutzer gelesen`,
    stop: 'Stoppen',
    continue: 'Fortsetzen',
    none: 'Diese Einstellungen hätten nichts angehalten.',
    noneYet: 'Bisher nichts.',
    result: (destinations, pauses, stopped, entered) =>
      `Hätte ${count(destinations, 'Ziel', 'Ziele')} angehalten${pauses === destinations ? '' : `, zusammen ${formatUnits(pauses)}-mal`}, und ${count(stopped, 'Nachricht', 'Nachrichten')} gestoppt. ${entered === 0 ? 'Keine davon wurde eingegeben.' : `${formatUnits(entered)} davon ${entered === 1 ? 'wurde' : 'wurden'} eingegeben: Menschen, die keinen Code bekommen hätten.`}`,
    isOther: 'Die Einstellungen sind seit dieser Wiederholung geändert.',
    table: 'Was die Wiederholung angehalten hätte',
    first: (listed, pauses) =>
      `Die ${formatUnits(listed)} von ${formatUnits(pauses)}, die am meisten eingegebene Codes gestoppt hätten.`,
    columns: { from: 'Wann', user: 'Für', country: 'Land', stopped: 'Gestoppt', entered: 'Davon eingegeben' },
    period: (from, until) => (
      <>
        {from} – {until}
      </>
    ),
  },
}
