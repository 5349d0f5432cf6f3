import { formatUnits } from '../../formats.ts'
import type { pauses as english } from '../en/pauses.tsx'
import { someUsers } from './some-users.ts'

const enteredOf = (entered: number) =>
  entered === 0 ? 'keiner eingegeben' : `${formatUnits(entered)} davon eingegeben`

export const pauses: typeof english = {
  title: 'Angehaltene Ziele',
  about:
    'Nachrichten in diese Länder werden abgelehnt, welche Kontingente ein Benutzer auch hat. Das gilt nach höchstens zwei Sekunden.',
  tabs: { pauses: 'Ziele', breaker: 'Sicherung', caps: 'Obergrenzen' },
  make: 'Ziel anhalten…',
  show: 'Anzeigen',
  shown: { active: 'Jetzt angehalten', over: 'Abgelaufen oder freigegeben', all: 'Alle' },
  origin: { label: 'Angehalten durch', all: 'Alle' },
  origins: { person: 'Eine Person', breaker: 'Die Sicherung' },
  allUsers: 'Alle Benutzer',
  none: { active: 'Kein Ziel ist angehalten', over: 'Noch nichts ist abgelaufen', all: 'Noch nichts angehalten' },
  noneAbout: 'Anhalten stoppt Nachrichten in ein Land sofort, für einen Benutzer oder für alle.',
  columns: {
    country: 'Land',
    user: 'Für',
    types: 'Typen',
    until: 'Bis',
    made: 'Angehalten',
    reason: 'Grund',
    stopped: 'Abgelehnt in 24 Stunden',
    action: 'Aktion',
  },
  stoppedBound: (latest, isAll) =>
    `Gezählt nach dem Protokoll der Ablehnungen, von dem je Grund höchstens die neuesten ${formatUnits(latest)} des Tages gelesen werden${isAll ? '' : ': Es waren mehr'}.`,
  allTypes: 'Alle',
  untilLifted: 'Bis zur Freigabe',
  observed: 'Nur beobachtet, nichts abgelehnt',
  evidence: {
    flight: (codes, allowed) => `${codes} Codes in 5 Minuten nicht eingegeben, ${allowed} erlaubt`,
    hour: (codes, allowed) => `${codes} Codes in einer Stunde nicht eingegeben, ${allowed} erlaubt`,
    day: (codes, allowed) => `${codes} Codes in 24 Stunden nicht eingegeben, ${allowed} erlaubt`,
  },
  by: (actor, at) => (
    <>
      {actor}, {at}
    </>
  ),
  lifted: (actor, at) => (
    <>
      Freigegeben durch {actor}, {at}
    </>
  ),
  lift: 'Freigeben…',
  liftFor: (country, user) => `${country} freigeben für ${user === null ? 'alle Benutzer' : `Benutzer ${user}`}`,
  lifting: {
    title: 'Ziel freigeben?',
    about: (country, isForAll) =>
      `Nachrichten nach ${country} gehen wieder hinaus${isForAll ? ', für alle Benutzer' : ''}, soweit Kontingente es erlauben und das Ziel nicht anders angehalten ist.`,
    submit: 'Freigeben',
    close: 'Abbrechen',
    done: country => `Nachrichten nach ${country} sind nicht mehr angehalten.`,
  },
  form: {
    title: 'Ziele anhalten',
    who: 'Für',
    whoLabels: { one: 'Einen Benutzer', all: 'Alle Benutzer' },
    user: 'Benutzer-ID oder ref: und die Referenz',
    countries: 'Länder',
    countriesAbout: 'Jedes lässt sich einzeln freigeben.',
    types: 'Nachrichtentypen',
    typesAbout: 'Leer: Nachrichten aller Arten und ohne Art.',
    until: 'Bis',
    untilAbout: 'Leer: bis zur Freigabe.',
    reason: 'Grund',
    reasonAbout: 'Versender und Administratoren lesen ihn, Benutzer nicht.',
    errors: {
      user_id: 'Eine ID eingeben, oder ref: und eine Referenz.',
      country: 'Mindestens ein Land auswählen.',
      message_types: 'Je bis zu 64 Kleinbuchstaben, Ziffern, _ und -.',
      until: 'Einen Zeitpunkt in der Zukunft eingeben.',
      reason: 'Einen Grund eingeben.',
    },
    forAll: 'Das lehnt die Nachrichten jedes Benutzers ab.',
    submit: count => (count === 1 ? 'Anhalten' : `${formatUnits(count)} Ziele anhalten`),
    done: countries => `Angehalten: ${countries}.`,
    part: 'Ein Teil kann schon angehalten sein. Noch einmal versuchen: Nichts geschieht doppelt.',
  },
  paused: (country, types, until, why) => (
    <>
      Nachrichten{types === null ? '' : ` der Art ${types.join(', ')}`} nach {country} sind{' '}
      {until === null ? 'bis auf Weiteres' : <>bis {until}</>} angehalten
      {why === null ? '.' : <>: {why}</>}
    </>
  ),
  codes: {
    flight: codes => `${formatUnits(codes)} Codes in 5 Minuten, noch nicht eingegeben`,
    hour: (codes, entered) => `${formatUnits(codes)} Codes in einer Stunde, ${enteredOf(entered)}`,
    day: (codes, entered) => `${formatUnits(codes)} Codes in 24 Stunden, ${enteredOf(entered)}`,
  },
  noLonger: 'Das Ziel ist nicht mehr angehalten.',
  caps: {
    title: 'Obergrenzen neuer Benutzer',
    about: 'Was jeder neue Benutzer mit dem Standardtarif erhält, und wie viele Nachrichten es abgelehnt hat.',
    columns: { cap: 'Obergrenze', rule: 'Regel', stopped: 'Abgelehnt in 24 Stunden' },
    noPlan: 'Kein Tarif ist der Standard',
    toPlans: 'Mit einem Standardtarif erhält jeder neue Benutzer dessen Obergrenzen.',
    none: plan => `Der Standardtarif „${plan}“ hat keine Obergrenzen`,
    others: denials =>
      denials === 0
        ? 'Andere Obergrenzen haben keine Nachricht abgelehnt.'
        : `Andere Obergrenzen haben ${formatUnits(denials)} ${denials === 1 ? 'Nachricht' : 'Nachrichten'} abgelehnt.`,
    edit: plan => `Tarif „${plan}“ bearbeiten`,
  },
  senders: {
    paused: 'Angehalten',
    pausedFor: (name, user) => `Angehalten: ${name} für Benutzer ${user}`,
    open: (name, of, count) => `${name} für ${someUsers[of](count)} anhalten…`,
    about: (name, of, count) =>
      `${name} wird für ${someUsers[of](count)} angehalten, für jeden einzeln, und lässt sich einzeln freigeben. Wer alle stoppen will, auch Benutzer, die noch nicht dorthin gesendet haben, hält es für alle an.`,
    confirm: (of, count) => `Für ${someUsers[of](count)} anhalten`,
    all: 'Für alle Benutzer anhalten…',
    done: (name, of, count) => `${name} ist für ${someUsers[of](count)} angehalten.`,
  },
}
