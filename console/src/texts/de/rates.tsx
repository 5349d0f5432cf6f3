import { formatUnits } from '../../formats.ts'
import type { rates as english } from '../en/rates.tsx'

const counted = (count: number, one: string, many: string) => `${formatUnits(count)} ${count === 1 ? one : many}`
const units = (count: number) => counted(count, 'Einheit', 'Einheiten')

const perMessage = (count: number) => (count === 0 ? '' : ` + ${formatUnits(count)} je Nachricht`)

export const rates: typeof english = {
  list: {
    title: 'Preise',
    about: 'Preislisten: wie viele Einheiten ein Segment einer Nachricht kostet, nach Ziel.',
    create: 'Neue Preisliste',
    none: 'Noch keine Preislisten',
    aboutNone:
      'Ohne Preisliste kostet jedes Segment eine Einheit. Eine Preisliste kann der Standard sein, oder die eines Tarifs oder Benutzers.',
    columns: { card: 'Preisliste', version: 'Fassung', lines: 'Zeilen', changed: 'Zuletzt geändert' },
  },
  card: 'Preisliste',
  cardOf: id => `Preisliste ${id}`,
  isDefault: 'Standard',
  isArchived: 'Archiviert',
  about: (version, at) => (
    <>
      Fassung {version}, zuletzt geändert {at}
    </>
  ),
  by: (at, actor) => (
    <>
      {at} von {actor}
    </>
  ),
  has: (plans, users, isDefault) =>
    `${counted(plans, 'Tarif hat', 'Tarife haben')} sie, und ${counted(users, 'Benutzer hat', 'Benutzer haben')} sie als die mit ihnen vereinbarte.${isDefault ? ' Sie ist der Standard: auch Benutzer, deren Tarif keine hat, haben sie.' : ''}`,
  give: 'Vergeben wird sie unter „Bearbeiten“ eines Tarifs, oder im Profil eines Benutzers.',
  archivedAbout: 'Kein Tarif und kein Benutzer hat sie, und keiner kann sie bekommen.',

  form: {
    newTitle: 'Neue Preisliste',
    newAbout: 'Sie berechnet eine Einheit je Segment, bis sie andere Preise hat.',
    editTitle: 'Preisliste bearbeiten',
    edit: 'Bearbeiten …',
    name: 'Name',
    isDefault: 'Standard-Preisliste',
    aboutIsDefault:
      'Für Benutzer ohne eigene Preisliste, deren Tarif keine hat. Höchstens eine ist der Standard: die bisherige ist es dann nicht mehr. Ohne Standard kostet ein Segment bei ihnen eine Einheit.',
    create: 'Preisliste anlegen',
    save: 'Speichern',
    errors: { name: '1 bis 120 Zeichen verwenden.' },
  },
  archival: {
    open: 'Archivieren …',
    title: 'Diese Preisliste archivieren',
    about:
      'Kein Tarif und kein Benutzer kann sie mehr bekommen. Nachrichten, deren Preis sie bestimmt hat, behalten ihn. Das ist endgültig.',
    inUse:
      'Noch lässt sie sich nicht archivieren. Vorher denen, die sie haben, eine andere geben, und eine andere zum Standard machen.',
    submit: 'Preisliste archivieren',
    close: 'Abbrechen',
  },

  versions: {
    title: 'Fassungen',
    columns: { version: 'Fassung', state: 'Stand', from: 'Ab', lines: 'Zeilen', by: 'Gesetzt' },
    states: { holds: 'Gilt jetzt', upcoming: 'Kommt noch', past: 'Vorbei' },
  },
  lines: {
    title: version => `Preise der Fassung ${version}`,
    prefix: { label: 'Vorwahl', all: 'Alle Zeilen', error: 'Die ersten 1 bis 10 Ziffern von Nummern, etwa 49' },
    columns: {
      destination: 'Ziel',
      type: 'Nachrichtentyp',
      segment: 'Einheiten je Segment',
      message: 'Einheiten je Nachricht',
    },
    others: 'Alle anderen Ziele',
    allTypes: 'Jeder',
    none: 'Keine Zeile hat eine solche Vorwahl',
    more: 'Es gibt weitere Zeilen: nach Vorwahl filtern, oder eine Nummer nachschlagen.',
  },
  lookUp: {
    title: 'Eine Nummer nachschlagen',
    label: 'Nummer oder Land',
    about: 'Eine Nummer, ihr Anfang oder ein Land: welche Zeile entscheidet, und was ein Segment kostet.',
    submit: 'Nachschlagen',
    error: 'Eine Nummer mit Ländervorwahl oder ihren Anfang eingeben, etwa +49 151, oder ein Land.',
    result: 'Die Zeilen, die entscheiden',
  },

  change: {
    title: 'Preise ändern',
    about:
      'Die ganze Liste als CSV, höchstens 20.000 Zeilen: einfügen, eine Datei hier ablegen oder auswählen. Eine Zeile nennt eine Vorwahl, ein Land oder keines von beiden: was alle anderen kosten. Schon reservierte Nachrichten behalten ihren Preis.',
    file: 'Datei auswählen',
    label: 'Preise als CSV',
    from: 'Gültig ab',
    aboutFrom: 'Höchstens 90 Tage voraus. Leer: sofort.',
    preview: 'Vorschau',
    problems: {
      tooLarge: megabytes => `Die Datei ist größer als ${megabytes} MB.`,
      empty: 'Eine Zeile mit den Namen der Spalten eingeben, und je Preis eine Zeile.',
      columns: known => `Die erste Zeile muss Spalten unter diesen nennen, jede einmal: ${known}.`,
    },
    issue: (line, text) => (line === null ? text : `Zeile ${formatUnits(line)}: ${text}`),
    issues: {
      prefix: 'Die Vorwahl hat 1 bis 10 Ziffern, ohne Plus, 00 und Leerzeichen.',
      country: 'Das Land ist ein Code aus zwei Buchstaben, etwa DE. Eine Zeile hat Vorwahl oder Land, nicht beides.',
      message_type: 'Der Nachrichtentyp hat 1 bis 64 dieser Zeichen: a–z, 0–9, _ und -.',
      per_segment:
        'per_segment ist eine ganze Zahl von Einheiten bis 1.000.000, und mindestens 1, wenn es per_message nicht ist.',
      per_message: 'per_message ist eine ganze Zahl von Einheiten bis 1.000.000.',
      twice: 'Eine andere Zeile ist für dasselbe Ziel und denselben Nachrichtentyp.',
      list: 'Es sind 1 bis 20.000 Zeilen, und eine hat weder Vorwahl noch Land noch Nachrichtentyp: was alle anderen Nachrichten kosten.',
      valid_from: 'Einen Zeitpunkt eingeben, der nicht vorbei ist, höchstens 90 Tage voraus.',
    },
    outdated: 'Seit der Vorschau wurde eine andere Fassung gespeichert. Bitte die Vorschau neu ansehen.',
    nothing: 'Nichts ändert sich: diese Preise gelten dann ohnehin.',
    counts: {
      new: count => `${formatUnits(count)} neu`,
      gone: count => `${formatUnits(count)} entfallen`,
      dearer: count => `${formatUnits(count)} teurer`,
      cheaper: count => `${formatUnits(count)} günstiger`,
    },
    summary: changes => `Zeilen: ${changes}.`,
    table: 'Die größten Änderungen',
    columns: { destination: 'Ziel', type: 'Nachrichtentyp', change: 'Änderung', cost: 'Einheiten je Segment' },
    kinds: { new: 'Neu', gone: 'Entfällt', dearer: 'Teurer', cheaper: 'Günstiger' },
    cost: ({ per_segment, per_message }) => `${formatUnits(per_segment)}${perMessage(per_message)}`,
    more: count => `und ${counted(count, 'weitere Zeile', 'weitere Zeilen')}`,
    apply: 'Diese Preise setzen',
    back: 'Zurück',
    done: version => `Fassung ${version} der Preise ist gesetzt. Sie gilt in jedem Prozess binnen zwei Sekunden.`,
    doneFrom: (version, from) => `Fassung ${version} der Preise ist gesetzt. Sie gilt ab ${from}.`,
  },

  field: {
    label: 'Preise',
    ofPlan: 'Die Preisliste der Benutzer, die diesen Tarif in einer beliebigen Fassung haben, und keine eigene.',
    asDefault: 'Wie der Standard',
    asPlan: 'Wie der Tarif, sonst der Standard',
  },
  ofUser: (card, from) => (
    <>
      Preise: {card}
      {{ own: ', mit dem Benutzer vereinbart', plan: ', durch den Tarif', default: ', der Standard' }[from]}
    </>
  ),
  price: 'Preis',
  priced: (segments, { per_segment, per_message }) =>
    `${counted(segments, 'Segment', 'Segmente')} × ${units(per_segment)}${perMessage(per_message)}`,
}
