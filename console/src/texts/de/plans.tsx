import { formatList, formatUnits } from '../../formats.ts'
import type { plans as english } from '../en/plans.tsx'

const users = (count: number) => `${formatUnits(count)} Benutzer`
const quotas = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Kontingent' : 'Kontingente'}`

export const plans: typeof english = {
  list: {
    title: 'Tarife',
    about: 'Kontingente, die Benutzer als Ganzes bekommen, und spätere Fassungen davon.',
    create: 'Neuer Tarif',
    show: 'Anzeigen',
    shown: { false: 'Tarife in Gebrauch', true: 'Archivierte Tarife' },
    none: 'Noch keine Tarife',
    aboutNone:
      'Ein Tarif wird einmal geschrieben, zum Beispiel 100 Einheiten im Monat, höchstens 50 am Tag und 10 am Tag ins Ausland, und beliebig vielen Benutzern gegeben. Ein Tarif kann der Standard sein, den neue Benutzer von selbst bekommen.',
    sample: 'Mit einem Beispiel beginnen',
    noneArchived: 'Kein Tarif ist archiviert',
    columns: { plan: 'Tarif', version: 'Fassung', quotas: 'Kontingente', changed: 'Zuletzt geändert' },
  },
  isDefault: 'Standard',
  isArchived: 'Archiviert',
  changedAt: (at, actor) => (
    <>
      {at} von {actor}
    </>
  ),
  lasts: days => (days === 1 ? 'endet nach einem Tag' : `endet nach ${formatUnits(days)} Tagen`),

  page: {
    tabs: { label: 'Teile des Tarifs', overview: 'Übersicht', edit: 'Bearbeiten', history: 'Verlauf' },
    changed: (version, at) => (
      <>
        Fassung {version}, zuletzt geändert {at}
      </>
    ),
    quotas: 'Was Benutzer bekommen',
    users: 'Wer ihn hat',
    columns: { version: 'Fassung', users: 'Benutzer', quotas: 'Ihre Kontingente' },
    toQuotas: 'In der Liste der Kontingente öffnen',
    noUsers: 'Kein Benutzer hat diesen Tarif',
    aboutNoUsers:
      'Er lässt sich auf der Seite eines Benutzers geben, an die Benutzer einer Liste oder eines anderen Tarifs ausrollen oder zum Standard machen.',
    aboutNewUsers:
      'Neue Benutzer bekommen ihn mit der ersten Nachricht. Anderen lässt er sich auf der Seite eines Benutzers geben oder an die Benutzer einer Liste oder eines anderen Tarifs ausrollen.',
    toImport: 'Vielen Benutzern mit einer Datei geben',
    archived: 'Kein weiterer Benutzer bekommt ihn. Wer ihn hat, behält ihn mit den Kontingenten.',
    archive: 'Archivieren …',
  },
  archival: {
    title: 'Diesen Tarif archivieren',
    about: count =>
      `Kein weiterer Benutzer bekommt ihn. ${count === 0 ? 'Kein Benutzer hat ihn.' : `${users(count)} ${count === 1 ? 'hat' : 'haben'} ihn und ${count === 1 ? 'behält' : 'behalten'} ihn mit den Kontingenten.`} Das lässt sich nicht rückgängig machen.`,
    aboutDefault: 'Er ist der Standardtarif: Neue Benutzer bekommen dann keinen.',
    submit: 'Tarif archivieren',
    close: 'Abbrechen',
  },

  form: {
    newTitle: 'Neuer Tarif',
    newAbout: 'Kein Benutzer bekommt ihn, bis er gegeben wird oder der Standard ist.',
    editAbout:
      'Mit einem anderen Namen oder anderen Kontingenten entsteht eine neue Fassung. Was Benutzer haben, bleibt, bis sie ausgerollt wird.',
    name: 'Name',
    aboutName: 'Benutzer sehen ihn.',
    isDefault: 'Standardtarif',
    aboutIsDefault:
      'Ein Benutzer, der nie ein Kontingent hatte, bekommt ihn mit der ersten Nachricht. Höchstens ein Tarif ist der Standard: Der bisherige ist es dann nicht mehr.',
    quotas: 'Kontingente',
    add: 'Kontingent hinzufügen',
    slot: 'Name im Tarif',
    aboutSlot:
      'Eine spätere Fassung ändert das Kontingent mit demselben Namen; ein anderer Name ist ein anderes Kontingent.',
    lasts: 'Dauer in Tagen',
    aboutLasts: 'Ab dann, wenn der Benutzer es bekommt. Leer: bis es beendet wird.',
    remove: 'Entfernen',
    removeOf: slot => `Kontingent ${slot} entfernen`,
    incomplete: 'Bitte ein Limit eingeben',
    create: 'Tarif anlegen',
    save: 'Speichern',
    cancel: 'Abbrechen',
    earlier: link => (
      <>
        Eine frühere Anfrage dieses Formulars hat schon einen Tarif mit anderen Werten angelegt. Bitte die{' '}
        {link('Liste der Tarife')} prüfen oder einen weiteren anlegen.
      </>
    ),
    createAnother: 'Weiteren Tarif anlegen',
    errors: {
      name: 'Bitte 1 bis 120 Zeichen eingeben.',
      rate_card_id: 'Eine Preisliste wählen, die nicht archiviert ist.',
      slots: 'Ein Tarif hat 1 bis 20 Kontingente.',
      slot: 'Bitte bis zu 40 dieser Zeichen eingeben: a–z, 0–9, _ und -. Jedes Kontingent des Tarifs hat einen eigenen Namen.',
      lasts_days: 'Bitte eine ganze Zahl von 1 bis 3.650 eingeben oder nichts.',
    },
  },
  presets: {
    monthly: 'Monatspaket',
    daily: 'Obergrenze am Tag',
    abroad: 'Obergrenze am Tag ins Ausland',
    welcome: 'Einheiten für die ersten Tage',
    other: 'Anderes Kontingent',
  },
  sampleName: 'Basis',

  conflict: {
    title: 'Dieser Tarif wurde von jemand anderem geändert',
    about: (actor, version, at) => (
      <>
        {actor} hat ihn am {at} gespeichert; er hat jetzt Fassung {version}. Die eigenen Änderungen sind noch nicht
        gespeichert.
      </>
    ),
    theirs: 'Was dabei geändert wurde',
    nothing: 'Der Tarif ist schon so, wie er werden soll.',
    both: names => `Auch selbst geändert; die eigenen Werte ersetzen sie: ${formatList(names)}.`,
    save: 'Eigene Änderungen dazu speichern',
    discard: 'Eigene Änderungen verwerfen',
  },
  history: {
    fields: { name: 'Name', is_default: 'Standardtarif', rate_card_id: 'Preise' },
    version: 'Fassung',
    yes: 'ja',
    no: 'nein',
    added: slot => `${slot}, hinzugefügt`,
    removed: slot => `${slot}, entfernt`,
    setting: (slot, setting) => `${slot}: ${setting}`,
    lasts: 'Tage',
  },

  rollOut: {
    title: 'Ausrollen',
    upToDate: version => `Alle, die den Tarif haben, haben Fassung ${version}.`,
    behind: (count, version) =>
      `${users(count)} ${count === 1 ? 'hat' : 'haben'} eine frühere Fassung als ${version}. Ihre Kontingente bleiben, wie sie waren, bis sie ausgerollt wird.`,
    open: 'Ausrollen …',
    who: 'Wer ihn bekommt',
    allEarlier: count => `Alle mit einer früheren Fassung (${formatUnits(count)})`,
    oneVersion: (version, count) => `Alle mit Fassung ${version} (${formatUnits(count)})`,
    ofPlan: name => `Alle mit dem Tarif „${name}“`,
    listed: 'Benutzer einer Liste',
    list: 'Benutzer',
    listAbout:
      'IDs, oder ref: und Referenzen, mit Leerzeichen, Kommas oder Zeilenumbrüchen dazwischen. Sie bekommen den Tarif, welchen sie auch haben, auch wenn sie keinen haben.',
    notAUser: text => `„${text}“ ist weder eine ID noch ref: und eine Referenz.`,
    noUsers: 'Die Benutzer eingeben.',
    listExample: '7, 1042, ref:laden-01',
    unknownReferences: (refs, more) =>
      `Kein Benutzer hat die ${refs.length === 1 ? 'Referenz' : 'Referenzen'} ${formatList(more === 0 ? refs : [...refs, `${formatUnits(more)} weitere`])}. Einem Benutzer auf seiner Seite unter „Profil“ geben oder hier herausnehmen.`,
    tooMany: count =>
      `Höchstens ${formatUnits(count)} Benutzer. Für mehr eine Datei mit Benutzern und Tarifen importieren.`,
    reason: 'Grund',
    reasonAbout: 'Steht im Verlauf jedes geänderten Kontingents. Kann leer bleiben.',
    fresh: 'Neue Kontingente beginnen von vorn',
    freshAbout:
      'Sonst beginnt ein neues Kontingent mit dem, was ein früheres desselben Namens in einem noch offenen Zeitraum verbraucht hat; so bekommt kein Benutzer dieselben Einheiten zweimal.',
    preview: 'Vorschau',
    cancel: 'Abbrechen',
    back: 'Zurück',
    confirm: count => `An ${users(count)} ausrollen`,
    words: {
      changed: count => `${users(count)} ${count === 1 ? 'ändert' : 'ändern'} sich`,
      exhausted: count => `${formatUnits(count)} ${count === 1 ? 'läge' : 'lägen'} über dem neuen Limit`,
      carried: count =>
        `bei ${formatUnits(count)} ${count === 1 ? 'Benutzer' : 'Benutzern'} zählt der bisherige Verbrauch in einem neuen Kontingent`,
      again: count => `${users(count)} ${count === 1 ? 'bekommt' : 'bekommen'} verbrauchte Einheiten noch einmal`,
      kept: count =>
        `${quotas(count)} ${count === 1 ? 'behält einen Wert, der von Hand geändert wurde' : 'behalten Werte, die von Hand geändert wurden'}`,
      unchanged: count => `${users(count)} ${count === 1 ? 'hat' : 'haben'} schon alles davon`,
      failed: count => `${users(count)} ${count === 1 ? 'kann' : 'können'} ihn nicht bekommen`,
      made: count => `${quotas(count)} neu`,
      changedQuotas: count => `${quotas(count)} geändert, mit dem Verbrauch`,
      ended: count => `${quotas(count)} beendet`,
    },
    aboutExhausted: (list, count) => (
      <>
        Es wird nichts zurückgenommen, aber diese Benutzer haben von einem Kontingent bis zum Zurücksetzen nichts mehr:{' '}
        {list}
        {count > 0 && ` und ${formatUnits(count)} weitere`}.
      </>
    ),
    aboutUsed: {
      carried: (list, count) => (
        <>
          Neue Kontingente beginnen mit dem, was diese Benutzer in einem noch offenen Zeitraum verbraucht haben: {list}
          {count > 0 && ` und ${formatUnits(count)} weitere`}.
        </>
      ),
      again: (list, count) => (
        <>
          Diese Benutzer bekommen noch einmal, was sie in einem noch offenen Zeitraum verbraucht haben: {list}
          {count > 0 && ` und ${formatUnits(count)} weitere`}.
        </>
      ),
    },
    samples: count => `Die ersten ${formatUnits(count)}, die sich ändern würden`,
    columns: { user: 'Benutzer', change: 'Was sich ändert' },
    outcomes: { made: 'neu', replaced: 'durch ein neues ersetzt' },
    slot: (name, changes) => `${name}: ${changes}`,
    field: (name, before, after) => `${name} ${before} → ${after}`,
    own: (name, value) => (value === undefined ? name : `${name} ${value}`),
    keeps: fields => `behält ${formatList(fields)}`,
    onlyVersion: 'Nur die Fassung des Tarifs',
    endedOf: count => `${quotas(count)} beendet`,
    user: id => `Benutzer ${id}`,
    progress: (changed, unchanged) =>
      `${users(changed)} geändert${unchanged === 0 ? '' : ` · ${formatUnits(unchanged)} hatten diese Fassung schon`}`,
    close: 'Schließen',
    unfinished: count =>
      `Ein Ausrollen an ${users(count)} wurde unterbrochen. Wer den Tarif bekommen hat, behält ihn; beim Fortsetzen bekommen ihn die anderen.`,
    proceed: 'Fortsetzen',
    dismiss: 'Verwerfen',
  },

  ofUser: {
    label: 'Tarif',
    none: 'Kein Tarif',
    has: (plan, version) => (
      <>
        Tarif {plan}, Fassung {version}
      </>
    ),
    newer: version => `Fassung ${version} ist neuer`,
    kept: (quota, fields) => (
      <>
        {quota} ({formatList(fields)})
      </>
    ),
    byHand: 'Von Hand geändert, und bei späteren Fassungen behalten:',
    give: 'Tarif geben …',
    change: 'Ändern …',
    take: 'Wegnehmen …',
    plan: 'Tarif',
    current: (name, version) => `${name}, Fassung ${version}`,
    choose: 'Bitte einen Tarif wählen',
    noPlans: 'Es gibt noch keine Tarife.',
    newPlan: 'Einen anlegen',
    about:
      'Der Benutzer bekommt alle Kontingente des Tarifs. Die des bisherigen Tarifs enden oder ändern sich, wo beide denselben Namen haben; was davon verbraucht ist, bleibt verbraucht. Eigene Kontingente des Benutzers bleiben daneben: Pakete zählen zusammen, und jede Obergrenze gilt.',
    reset: 'Von Hand geänderte Werte aufgeben',
    submit: 'Tarif geben',
    cancel: 'Abbrechen',
    given: (name, made, changed, ended, carried) =>
      `Hat jetzt „${name}“: ${made} neu${carried === 0 ? '' : ` (${carried} mit dem bisherigen Verbrauch)`}, ${changed} geändert, ${ended} beendet.`,
    titles: { give: 'Tarif geben', take: 'Tarif wegnehmen' },
    aboutTake: name =>
      `Die Kontingente von „${name}“ enden jetzt. Eigene Kontingente des Benutzers bleiben. Den Standardtarif bekommt der Benutzer nicht wieder.`,
    submitTake: 'Tarif wegnehmen',
    taken: 'Der Tarif wurde weggenommen.',
  },
}
