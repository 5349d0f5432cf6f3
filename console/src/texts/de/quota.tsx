import { formatDayOfYear, formatUnits } from '../../formats.ts'
import { capitalized } from '../by-period.ts'
import type { quota as english } from '../en/quota.tsx'
import { eachPeriod } from './periods.ts'
import { description, startWords } from './quota-description.ts'
import { dialogs } from './quota-dialogs.tsx'
import { values } from './values.tsx'

export const quota: typeof english = {
  ...dialogs,
  user: id => `Benutzer ${id}`,
  windowEnds: 'bis',
  title: id => `Kontingent ${id}`,

  page: {
    about: (kind, id, user) => (
      <>
        {kind} {id} von {user}
      </>
    ),
    ofPlan: (plan, version) => (
      <>
        aus dem Tarif {plan}, Fassung {version}
      </>
    ),
    edit: 'Bearbeiten',
    duplicate: 'Duplizieren',
    adjust: 'Limit anpassen',
    suspend: 'Aussetzen',
    resume: 'Fortsetzen',
    resumed: { grant: 'Fortgesetzt.', cap: 'Fortgesetzt: Die Obergrenze gilt wieder.' },
    delete: 'Löschen',
    sections: 'Abschnitte',
    tabs: { settings: 'Einstellungen', windows: 'Frühere Zeiträume', history: 'Verlauf' },
    notFound: id => `Kontingent ${id} nicht gefunden`,
    noSuchId: 'Kein Kontingent hat diese Nummer.',
    toList: 'Zur Liste der Kontingente',
    isDeleted: 'Dieses Kontingent ist gelöscht.',
    deletedBy: (actor, at) => (
      <>
        Gelöscht von {actor} am {at}. Der Verlauf bleibt erhalten.
      </>
    ),
  },

  window: {
    label: 'Aktueller Zeitraum',
    fromTo: (from, to) => (
      <>
        {from} – {to}
      </>
    ),
    noEnd: 'kein Ende',
    ends: (distance, zone) => `endet ${distance}, Zeiten in ${zone}`,
    limit: 'Limit',
    rolledOver: 'Übertragen',
    used: 'Verbraucht',
    reserved: 'Reserviert',
    over: 'Über dem Limit',
    remaining: 'Übrig',
  },

  settings: {
    labels: {
      user_id: 'Benutzer-ID',
      kind: 'Art',
      name: 'Name',
      limit: 'Limit',
      period: 'Zurücksetzung',
      anchor: 'Erster Tag',
      time_zone: 'Zeitzone',
      per: 'Das Limit gilt für',
      counts: 'Zählt',
      rollover_limit: 'Übertrag',
      overage_limit: 'Überziehung',
      starts_at: 'Beginn',
      expires_at: 'Ablauf',
      countries: 'Länder',
      message_types: 'Nachrichtentypen',
      alert_at: 'Warnungen',
      enabled: 'Ausgesetzt',
      priority: 'Priorität',
      external_ref: 'Externe Referenz',
      metadata: 'Metadaten',
    },
    metadata: {
      extends_quota: 'Zusätzliche Einheiten zu',
      continues_quota: 'Folgt auf die erhöhte Obergrenze',
      continued_by: 'Gefolgt von der Obergrenze',
      raised_from: 'Limit vor der Erhöhung',
      reason: 'Grund',
    },
    periods: eachPeriod(({ each }) => capitalized(each)),
    per: {
      all: 'Alles zusammen',
      recipient: 'Jeden Empfänger für sich',
      country: 'Jedes Land für sich',
      tag: 'Jedes Kennzeichen für sich',
    },
    counts: { units: 'Einheiten', messages: 'Nachrichten' },
    oneTime: 'Einmalig (keine Zurücksetzung)',
    fromDay: (period, anchor) => `${period} ab dem ${startWords(anchor, formatDayOfYear)}`,
    day: anchor => startWords(anchor, formatDayOfYear),
    notRecorded: 'Nicht erfasst',
    none: 'Keine',
    all: 'Alle',
    never: 'Nie',
    yes: 'Ja',
    no: 'Nein',
    upTo: units => `Bis zu ${values.units(units)}`,
    alertsAt: percents => `Bei ${percents} Verbrauch`,
    created: 'Angelegt',
    lastChanged: 'Zuletzt geändert',
    atBy: (at, actor) => (
      <>
        {at}, {actor}
      </>
    ),
    version: version => `Version ${version}`,
  },

  form: {
    newTitle: 'Neues Kontingent',
    newAbout: 'Nur Benutzer und Limit sind nötig.',
    copyAbout: source => <>Eine Kopie von {source}. Bitte die Werte prüfen, dann anlegen.</>,
    editTitle: name => `${name} bearbeiten`,
    create: 'Kontingent anlegen',
    save: 'Änderungen speichern',
    cancel: 'Abbrechen',
    cannotChange: 'Nicht änderbar',
    optional: 'Optional',
    blockTitle: (what, user) => `${what}${user === '' ? '' : ` für Benutzer ${user}`} sperren`,
    blockAbout:
      'Eine Obergrenze von 0: keine dieser Nachrichten wird gesendet, bis sie ausgesetzt oder gelöscht wird oder endet.',
    blockOthers: 'Nachrichten in andere Länder gehen weiter.',
    blockName: countries => `Sperre ${countries}`,
    block: 'Sperren',
    allOfUser: 'Alle Nachrichten',
    blockReason: 'Grund der Sperre',
    blockReasonAbout:
      'Die Verwaltung sieht ihn im Verlauf der Obergrenze und bei Ablehnungen. Der Benutzer sieht ihn nicht.',
    blockReasonMissing: 'Ein Grund fehlt, für alle, die später auf die Sperre stoßen.',
    presets: 'Vorlagen',
    preset: {
      monthly: { name: 'Monatspaket', label: 'Monatspaket', about: 'Ein Paket, das jeden Monat zurückgesetzt wird' },
      prepaid: { name: 'Prepaid-Paket', label: 'Prepaid-Paket', about: 'Ein einmaliges Paket, ein Jahr gültig' },
      dailyCap: { name: 'Tagesobergrenze', label: 'Tagesobergrenze', about: 'Höchstens so viele Einheiten pro Tag' },
      countryCap: {
        name: 'Landesobergrenze',
        label: 'Landesobergrenze',
        about: 'Höchstens so viele Einheiten pro Monat in ein Land',
      },
      recipientCap: {
        name: 'Codes an dieselbe Nummer',
        label: '3 Codes pro Stunde an dieselbe Nummer',
        about: 'Höchstens so viele Nachrichten vom Typ otp, für jede Nummer einzeln',
      },
      eachCountryCap: {
        name: 'Nachrichten in dasselbe Land',
        label: '500 am Tag in dasselbe Land',
        about: 'Höchstens so viele Nachrichten, für jedes Land einzeln',
      },
      tagCap: {
        name: 'Nachrichten je Kennzeichen',
        label: '1.000 am Tag je Kennzeichen',
        about: 'Höchstens so viele Nachrichten, für jedes Kennzeichen einzeln: eine Kampagne oder eine Abteilung',
      },
    },
    userAbout: 'Die Nummer des Benutzers auf der eigenen Plattform.',
    grantAbout: 'Einheiten zum Versenden. Die Pakete eines Benutzers zählen zusammen.',
    capAbout: 'Begrenzt, was über alle Pakete versendet wird. Gibt selbst keine Einheiten. Ein Limit von 0 sperrt.',
    perAbout: 'Alle Nachrichten oder jeden Wert für sich.',
    countsAbout: 'Ein langer Text ist eine Nachricht.',
    inTotal: { units: 'Einheiten insgesamt.', messages: 'Nachrichten insgesamt.' },
    eachPeriod: {
      units: eachPeriod(({ per }) => `Einheiten ${per}.`),
      messages: eachPeriod(({ per }) => `Nachrichten ${per}.`),
    },
    unlimited: 'Unbegrenzt',
    nameAbout: 'Steht in Listen.',
    periodAbout: 'Wann der Verbrauch wieder bei 0 beginnt.',
    firstMonth: 'Erster Monat',
    joined: 'Der Tag, an dem der Benutzer den Tarif bekommt',
    firstDayAbout: 'An dem der Verbrauch wieder bei 0 beginnt. In einem kürzeren Monat ist es der letzte Tag.',
    zoneAbout: 'Die Zurücksetzung folgt dieser Zeitzone. Tippen, um zu suchen.',
    zonesSuggested: 'Vorgeschlagen',
    zonesAll: 'Alle',
    rolloverGroup: 'Übertrag und Überziehung',
    rollOver: units => `${units} Übertrag`,
    overage: units => `${units} Überziehung`,
    rolloverAbout: 'Höchste Zahl ungenutzter Einheiten, die in den nächsten Zeitraum übergehen.',
    rolloverNotHere: 'Nur für Kontingente mit Zurücksetzung.',
    overageAbout: 'Einheiten, die über das Limit hinaus erlaubt sind.',
    scheduleGroup: 'Laufzeit',
    startsNow: 'Beginnt sofort',
    from: at => `Ab ${at}`,
    until: at => `bis ${at}`,
    neverExpires: 'Läuft nie ab',
    startAbout: 'Leer lassen, um sofort zu beginnen.',
    expiryAbout: 'Leer lassen, wenn es nie abläuft.',
    yourZone: zone => `Eigene Zeitzone: ${zone}`,
    timeHint: (utc, distance, zone) => `${distance} · ${utc} · eigene Zeitzone: ${zone}`,
    scopeGroup: 'Geltungsbereich',
    allMessages: 'Alle Nachrichten',
    countriesAbout:
      'Gilt nur für Nachrichten in diese Länder. Leer lassen für alle. Eine Nachricht, deren Land der Sender nicht nennt, geht in keines davon.',
    allCountries: 'Alle Länder',
    exceptThese: 'Alle Länder außer diesen',
    typesAbout: 'Gilt nur für diese Typen, zum Beispiel otp oder marketing. Leer lassen für alle.',
    allTypes: 'Alle Nachrichtentypen',
    alertsAt: percents => `Bei ${percents} Prozent`,
    alertsAbout: 'Prozent des Verbrauchs, die ein Ereignis auslösen, mit Kommas getrennt.',
    moreGroup: 'Weiteres',
    priority: priority => `Priorität ${priority}`,
    priorityAbout: '0 bis 255; kleinere zuerst.',
    /** Of settings that are a text. */
    aboutTexts: {
      external_ref: 'Die Kennung im eigenen System. Der Benutzer kann sie lesen.',
    },
    alreadyUsed: 'Schon verbraucht',
    alreadyUsedAbout: 'Einheiten, die in diesem Zeitraum anderswo verbraucht wurden.',
    metadataAbout: max => `Eigene Daten für eigene Systeme, bis zu ${max} Schlüssel. Der Benutzer sieht sie nicht.`,
    key: 'Schlüssel',
    value: 'Wert',
    keyOf: row => `Schlüssel ${row}`,
    valueOf: row => `Wert ${row}`,
    removeKey: row => `Schlüssel ${row} entfernen`,
    addKey: 'Schlüssel hinzufügen',
    keyTwice: key => `Der Schlüssel „${key}“ kommt zweimal vor.`,
    openQuota: id => `Kontingent ${id} öffnen`,
    earlier: link => (
      <>
        Eine frühere Anfrage dieses Formulars hat schon ein Kontingent mit anderen Werten angelegt. Bitte die{' '}
        {link('Kontingente dieses Benutzers')} prüfen oder ein weiteres anlegen.
      </>
    ),
    createAnother: 'Weiteres Kontingent anlegen',
    errors: {
      user_id: 'Die Nummer eines Benutzers eingeben: eine ganze Zahl.',
      limit: `Eine ganze Zahl von 0 bis ${formatUnits(10 ** 12)} eingeben.`,
      name: 'Höchstens 120 Zeichen.',
      per: 'Empfänger und Kennzeichen stehen nur als Prüfwerte mit Schlüssel in der Datenbank: Dafür braucht der Dienst die Einstellung SECRETS_KEY.',
      anchor: 'Einen Tag der Liste wählen.',
      time_zone: 'Eine Zeitzone der Liste wählen.',
      rollover_limit: `Eine ganze Zahl von 0 bis ${formatUnits(10 ** 12)} eingeben.`,
      overage_limit: `Eine ganze Zahl von 0 bis ${formatUnits(10 ** 12)} eingeben.`,
      starts_at: 'Datum und Uhrzeit eingeben. Ein vergangener Beginn ist nicht änderbar.',
      expires_at: 'Datum und Uhrzeit nach dem Beginn eingeben.',
      countries: 'Länder der Liste wählen.',
      message_types: 'Ein Typ hat bis zu 64 dieser Zeichen: a–z, 0–9, _ und -.',
      alert_at: 'Prozente von 1 bis 100 eingeben, jedes einmal, zum Beispiel 80, 100.',
      priority: 'Eine ganze Zahl von 0 bis 255 eingeben.',
      external_ref: 'Höchstens 120 Zeichen.',
      metadata:
        'Ein Schlüssel hat bis zu 64 dieser Zeichen: A–Z, a–z, 0–9, _ . : und -. Ein Wert hat bis zu 512 Zeichen.',
      opening_used: `Eine ganze Zahl von 0 bis ${formatUnits(10 ** 12)} eingeben.`,
    },
  },

  preview: {
    title: 'Vorschau',
    empty: 'Mit einem Limit steht hier eine Beschreibung des Kontingents.',
    unknownZone: zone => `Dieser Browser kennt die Zeitzone ${zone} nicht.`,
    noWindow: 'Es läuft vor seinem Beginn ab.',
    caption: (count, local, zone) =>
      `${count === 1 ? 'Zeitraum' : `Die nächsten ${count} Zeiträume`}, ${zone === null ? `Zeiten in ${local}` : `Zeiten in ${zone}, darunter in ${local}`}`,
    from: 'Von',
    until: 'Bis',
    noEnd: 'Kein Ende',
  },

  merge: {
    title: 'Dieses Kontingent wurde inzwischen geändert',
    about: (actor, theirs, at, mine) => (
      <>
        Version {theirs} wurde am {at} gespeichert, von {actor}. Die eigenen Änderungen gehen von Version {mine} aus und
        sind noch nicht gespeichert.
      </>
    ),
    nothing: 'Die neue Version enthält die eigenen Änderungen schon. Es gibt nichts zu speichern.',
    by: { me: 'Selbst geändert', them: 'Anderswo geändert', both: 'Von beiden geändert: eines wählen' },
    mine: 'Eigener Wert',
    theirs: 'Neuer Wert',
    save: version => `Über Version ${version} speichern`,
    discard: 'Eigene Änderungen verwerfen',
    undecided: 'Für jede Einstellung, die beide geändert haben, einen Wert wählen.',
  },

  history: {
    label: 'Änderungen',
    empty: 'Keine Änderungen',
    emptyHint: 'Hier stehen Änderungen durch Administratoren.',
    actions: {
      created: 'Angelegt',
      updated: 'Geändert',
      adjusted: 'Limit angepasst',
      suspended: 'Ausgesetzt',
      resumed: 'Fortgesetzt',
      deleted: 'Gelöscht',
    },
    unusedUnitsLost: units => `${formatUnits(units)} ungenutzte ${units === 1 ? 'Einheit' : 'Einheiten'} verloren`,
    by: (action, actor) => (
      <>
        {action}, {actor}
      </>
    ),
    version: version => `Version ${version} · Anfrage`,
  },

  windows: {
    label: 'Frühere Zeiträume',
    empty: 'Keine früheren Zeiträume',
    emptyHint: 'Zeiträume mit Verbrauch stehen hier, wenn sie zu Ende sind.',
    from: 'Von',
    until: 'Bis',
    usage: 'Verbrauch',
    limit: 'Limit',
    rolledIn: 'Übernommen',
    rolledOut: 'Übertragen',
    lapsed: 'Verfallen',
  },

  description,
}
