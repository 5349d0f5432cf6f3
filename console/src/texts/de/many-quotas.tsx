import { formatUnits } from '../../formats.ts'
import type { manyQuotas as english } from '../en/many-quotas.tsx'
import { eachPeriod } from './periods.ts'

const quotasOf = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Kontingent' : 'Kontingente'}`

/** In the dative, after `von`. */
const quotasWith = (count: number) => `${formatUnits(count)} ${count === 1 ? 'Kontingent' : 'Kontingenten'}`

/** Changes of many quotas, and files of them. */
export const manyQuotas: typeof english = {
  bulk: {
    titles: {
      adjust: 'Ausgewählte Kontingente anpassen',
      extend: 'Ende der ausgewählten Kontingente verschieben',
      suspend: 'Ausgewählte Kontingente aussetzen',
      resume: 'Ausgewählte Kontingente fortsetzen',
      delete: 'Ausgewählte Kontingente löschen',
    },
    direction: 'Einheiten hinzufügen oder abziehen',
    add: 'Hinzufügen',
    remove: 'Abziehen',
    units: 'Einheiten',
    unitsHint: 'Eine ganze Zahl ab 1',
    windows: 'Wie lange',
    everyWindow: 'Ab jetzt',
    everyWindowAbout: 'Ändert das Limit, jetzt und in allen späteren Zeiträumen.',
    thisWindow: { any: 'Nur in diesem Zeitraum', ...eachPeriod(({ current }) => `Nur ${current}`) },
    thisWindowAbout:
      'Jeder Benutzer erhält diese Einheiten neben dem Paket, für dieselben Nachrichten. Was nicht verbraucht ist, wenn das Paket das nächste Mal zurückgesetzt wird, verfällt.',
    reason: 'Grund',
    reasonAbout: 'Erscheint im Verlauf.',
    end: 'Wie das Ende verschoben wird',
    ends: { by: 'Um eine Dauer', to: 'Auf einen Tag', never: 'Kein Ende' },
    by: 'Später um',
    byHint: 'Eine ganze Zahl von 1 bis 999',
    unit: 'Zeiteinheit',
    durations: { D: 'Tage', W: 'Wochen', M: 'Monate', Y: 'Jahre' },
    day: 'Endet mit Beginn des',
    dayHint: 'Einen Tag wählen',
    preview: 'Zeigen, was sich ändern würde',
    back: 'Zurück',
    cancel: 'Abbrechen',
    would: {
      adjust: count => `Das Limit von ${quotasWith(count)} würde sich ändern.`,
      extend: count => `Das Ende von ${quotasWith(count)} würde verschoben.`,
      suspend: count => `${quotasOf(count)} würden ausgesetzt.`,
      resume: count => `${quotasOf(count)} würden wieder zählen.`,
      delete: count => `${quotasOf(count)} würden gelöscht. Das lässt sich nicht rückgängig machen.`,
    },
    wouldAddExtra: (count, units) =>
      `${formatUnits(count)} ${count === 1 ? 'Paket bekäme' : 'Pakete bekämen'} ${formatUnits(units)} Einheiten mehr bis zur nächsten Zurücksetzung.`,
    unchanged: count => `${quotasOf(count)} ${count === 1 ? 'ist' : 'sind'} schon so.`,
    unfit: {
      adjust: `Es hat kein Limit, oder das neue Limit läge nicht zwischen 0 und ${formatUnits(10 ** 12)}.`,
      extend: 'Es endet nie, oder das neue Ende läge vor seinem Beginn oder nach dem Jahr 9999.',
    },
    wouldFail: count => `${quotasOf(count)} ${count === 1 ? 'lässt' : 'lassen'} sich nicht ändern:`,
    leftOut: count => `${quotasOf(count)} ${count === 1 ? 'bleibt' : 'bleiben'} außen vor:`,
    liftsCaps: count =>
      count === 1
        ? 'Darunter ist eine Obergrenze: Sie fällt weg, und der Benutzer kann senden, so viel die Pakete erlauben.'
        : `Darunter sind ${formatUnits(count)} Obergrenzen: Sie fallen weg, und die Benutzer können senden, so viel die Pakete erlauben.`,
    raisesCaps: count =>
      count === 1
        ? 'Darunter ist eine Obergrenze: Der Benutzer bekommt keine Einheiten, sondern eine höhere Grenze.'
        : `Darunter sind ${formatUnits(count)} Obergrenzen: Die Benutzer bekommen keine Einheiten, sondern eine höhere Grenze.`,
    samples: (shown, of) =>
      shown === of
        ? 'Was sich ändern würde'
        : `Was sich ändern würde: die ersten ${formatUnits(shown)} von ${formatUnits(of)}`,
    change: 'Änderung',
    difference: (label, before, after) => `${label}: ${before} → ${after}`,
    typeCount: count => `Zur Bestätigung ${count} eingeben`,
    confirm: {
      adjust: count => `${quotasOf(count)} anpassen`,
      extend: count => `Ende von ${quotasWith(count)} verschieben`,
      suspend: count => `${quotasOf(count)} aussetzen`,
      resume: count => `${quotasOf(count)} fortsetzen`,
      delete: count => `${quotasOf(count)} löschen`,
    },
    tooMany: count => `Mehr als ${quotasOf(count)} entsprechen den Filtern. Engere Filter wählen.`,
  },
  extra: {
    name: of => `Zusätzliche Einheiten zu ${of}`,
    notAGrant: 'Eine Obergrenze hat keine eigenen Einheiten.',
    unlimited: 'Es ist schon unbegrenzt.',
    oneTime: 'Es ist einmalig: stattdessen das Limit anpassen.',
    notLive: 'Es zählt zurzeit nicht.',
  },
  jobs: {
    states: {
      running: 'Änderung läuft … Diese Seite geöffnet lassen.',
      waiting: 'Warten auf den Dienst …',
      paused: 'Angehalten. Was geändert ist, bleibt geändert; „Weiter“ ändert nichts doppelt.',
      failed: 'Unterbrochen. Was geändert ist, bleibt geändert; „Weiter“ ändert nichts doppelt.',
      done: 'Fertig.',
    },
    dryRunStates: {
      running: 'Prüfung läuft …',
      waiting: 'Warten auf den Dienst …',
      paused: 'Angehalten. Nichts wurde geändert.',
      failed: 'Unterbrochen. Nichts wurde geändert.',
      done: 'Geprüft. Noch wurde nichts geändert.',
    },
    progress: (done, total) => `${formatUnits(done)} von ${formatUnits(total)}`,
    waiting: reason => `${reason} Neuer Versuch läuft …`,
    counts: {
      created: count => `${formatUnits(count)} angelegt`,
      updated: count => `${formatUnits(count)} aktualisiert`,
      changed: count => `${formatUnits(count)} geändert`,
      unchanged: count => `${formatUnits(count)} unverändert`,
      failed: count => `${formatUnits(count)} fehlgeschlagen`,
    },
    would: {
      created: count => `${formatUnits(count)} ${count === 1 ? 'würde' : 'würden'} angelegt`,
      updated: count => `${formatUnits(count)} ${count === 1 ? 'würde' : 'würden'} aktualisiert`,
    },
    failures: 'Was sich nicht ändern lässt',
    place: 'Wo',
    reason: 'Warum',
    showMore: count => `${formatUnits(count)} weitere anzeigen`,
    notListed: 'Der Dienst nennt die ersten 1.000 Fehler eines Aufrufs. Diese beheben und noch einmal versuchen.',
    ofColumn: (column, rule) => `Spalte ${column}: ${rule}`,
    first: (entries, places) => `${entries}: ${places}; …`,
    entries: count => `${formatUnits(count)} Einträge`,
    placeDetail: (place, detail) => `${place}: ${detail}`,
    quotaOfUser: (quota, user) => (user === null ? `Kontingent ${quota}` : `Kontingent ${quota} von Benutzer ${user}`),
    line: line => `Zeile ${line}`,
    column: (place, column) => `${place}, Spalte ${column}`,
    brokenOff: 'Die Antwort des Dienstes brach ab.',
    stop: 'Anhalten',
    continue: 'Weiter',
    report: 'Bericht herunterladen',
    close: 'Schließen',
    total: done => `Zusammen: ${formatUnits(done)}`,
  },
  importing: {
    title: 'Aus CSV importieren',
    about: 'Kontingente, die angelegt und geändert werden, und Benutzer, die einen Tarif oder mehr Einheiten bekommen.',
    drop: 'Eine CSV-Datei hier ablegen oder auswählen',
    choose: 'Datei auswählen',
    tooLarge: megabytes => `Die Datei ist größer als ${megabytes} MB. Dafür gibt es den Befehl sms-quota import.`,
    notUtf8: line =>
      `Zeile ${line} ist nicht UTF-8. Die Datei als „CSV UTF-8“ speichern oder unten wählen, wie sie gespeichert wurde.`,
    encoding: 'Gespeichert als',
    chooseEncoding: 'Kodierung wählen',
    notRead: 'Die Datei lässt sich nicht lesen.',
    faults: {
      unclosed_quote: line => `Zeile ${line}: Ein Anführungszeichen ist nicht geschlossen.`,
      text_after_quote: line =>
        `Zeile ${line}: Auf das Anführungszeichen, das eine Zelle beendet, folgt Text. In einer solchen Zelle steht ein Anführungszeichen doppelt.`,
      quote_after_blank: line =>
        `Zeile ${line}: Eine Zelle beginnt mit einem Leerzeichen und einem Anführungszeichen. Das Leerzeichen entfernen.`,
      unknown_separator: line =>
        `Zeile ${line}: sep= nennt das Trennzeichen: Komma, Semikolon, Tabulator oder senkrechter Strich.`,
      too_long: line => `Zeile ${line} ist zu lang.`,
    },
    noRows: 'Die Datei hat keine Zeilen.',
    unknownColumns: (columns, known) => `Unbekannte Spalten: ${columns}. Bekannt sind: ${known}.`,
    twice: column => `Die Spalte ${column} gibt es zweimal.`,
    neededColumns:
      'Jede Zeile braucht user_id, external_ref und limit oder user_id und die id eines Kontingents oder einen plan. Für mehr Einheiten braucht die Datei eine Spalte wie user_id oder customer.',
    tooManyCells: (cells, columns) => `Sie hat ${cells} Zellen, die Kopfzeile ${columns} Spalten.`,
    namelessColumn: column => `Sie hat einen Wert in Spalte ${column}, die keinen Namen hat.`,
    unreadable: 'Sie ist nicht UTF-8.',
    lost: 'Sie hat, was eine Tabellenkalkulation statt eines Werts anzeigt:',
    repeated: 'Sie betrifft dasselbe Kontingent oder den Tarif desselben Benutzers wie eine frühere Zeile:',
    asLine: line => `Zeile ${line}.`,
    file: (name, rows) => `${name}: ${formatUnits(rows)} ${rows === 1 ? 'Zeile' : 'Zeilen'}`,
    another: 'Andere Datei auswählen',
    importRows: {
      quotas: rows => `${quotasOf(rows)} importieren`,
      plans: rows => (rows === 1 ? '1 Benutzer einen Tarif geben' : `${formatUnits(rows)} Benutzern Tarife geben`),
      both: rows => `${formatUnits(rows)} ${rows === 1 ? 'Zeile' : 'Zeilen'} importieren`,
    },
    importRest: rows => `Die anderen ${formatUnits(rows)} importieren`,
    nothing: {
      quotas: 'Alle Kontingente sind schon so, wie die Datei sagt.',
      plans: 'Alle Benutzer haben diese Tarife schon.',
      both: 'Alle Kontingente und Tarife sind schon so, wie die Datei sagt.',
    },
    toQuotas: 'Zur Liste der Kontingente',
    toExtras: 'Alle Zusatzeinheiten zeigen',
  },
  give: {
    heading: users => `Mehr Einheiten für ${formatUnits(users)} Benutzer`,
    units: 'Einheiten für jeden Benutzer',
    unitsOfFile: 'Die Datei sagt, wie viele Einheiten jeder Benutzer bekommt.',
    period: 'Welches Paket jedes Benutzers',
    periods: {
      ...eachPeriod(({ adverb }) => `Das ${adverb}e Paket`),
      once: 'Das einmalige Paket (Prepaid)',
    },
    dateAbout: 'Die Vorschau zeigt, wann es endet.',
    onceAbout: 'Jeder Benutzer bekommt ein einmaliges Paket mit diesen Einheiten für dieselben Nachrichten.',
    onceEnds: { pack: 'So lange wie das vorhandene Paket', month: 'Bis zum Ende dieses Monats' },
    onceEndsAbout: {
      pack: 'Die Einheiten enden mit dem vorhandenen Paket, oder nie, wenn es nicht endet.',
      month: 'Der Monat endet in der Zeitzone der meisten monatlichen Pakete der Datei; ohne solche in UTC.',
    },
    repeatable: 'Dasselbe noch einmal mit derselben Datei würde die Limits noch einmal erhöhen.',
    repeatSafe:
      'Dieselben Einheiten aus demselben Grund gibt es je Zeitraum nur einmal, auch wenn die Datei noch einmal gewählt wird. Bei einem anderen Grund wird erst gefragt.',
    find: 'Vorschau (ändert nichts)',
    finding: (done, of) => `Suche: ${formatUnits(done)} von ${formatUnits(of)} Benutzern`,
    why: {
      no_quota: 'Hat gar kein Kontingent oder ist dem Dienst unbekannt. Die Nummer prüfen.',
      only_caps: 'Hat nur Obergrenzen, kein Paket.',
      only_one_time: 'Hat nur ein einmaliges Paket (Prepaid), das nicht zurückgesetzt wird.',
      unlimited: 'Hat schon ein unbegrenztes Paket.',
      notLive: (status, toDo = '') => `Das Paket zählt zurzeit nicht: ${status}.${toDo}`,
      toDo: {
        suspended: ' Das Paket erst fortsetzen.',
        scheduled: ' Die Einheiten geben, wenn es begonnen hat.',
      },
      other_period: 'Hat ein Paket für einen anderen Zeitraum.',
      had_before: 'Hat diese Einheiten aus diesem Grund schon bekommen.',
      got_others: 'Hat schon Einheiten bekommen.',
      twice: (user, line) => `Benutzer ${user}, wie in Zeile ${line}`,
      named: name => `„${name}“`,
      grantOf: (name, which) => `„${name}“ (${which})`,
      on: at => `(am ${at})`,
    },
    offer: (users, which) =>
      `Auch ${formatUnits(users)} ${users === 1 ? 'Benutzer' : 'Benutzern'} mit einem anderen Paket Einheiten geben: ${which}`,
    stays: 'Sie kommen neben dieses Paket, das bleibt, wie es ist.',
    previewOthers: (users, which) => `Vorschau für die ${formatUnits(users)} außen vor: ${which}`,
    lasting: {
      forGood: 'Die Einheiten kommen in jedem Zeitraum wieder, bis das Limit gesenkt wird.',
      never: 'Die Einheiten enden nie: Sie gelten, bis sie verbraucht sind.',
      until: (at, zone) => `Die Einheiten gelten bis ${at} (${zone}).`,
      between: (first, last, zone) =>
        `Die Einheiten gelten so lange wie das Paket jedes Benutzers: Das erste endet am ${first}, das letzte am ${last} (${zone}).`,
      monthIn: zone => `Das ist das Ende des Monats in der Zeitzone ${zone}.`,
      someNever: users => `Für ${formatUnits(users)} der Benutzer enden sie nie, weil das Paket nicht endet.`,
      someForGood: users =>
        `Für ${formatUnits(users)} der Benutzer kommen sie in jedem Zeitraum wieder, bis das Limit gesenkt wird.`,
    },
    allOfFile: users => `Zurück zu allen ${formatUnits(users)} Benutzern der Datei`,
    during: { ...eachPeriod(({ current }) => ` ${current}`), once: '' },
    given: (units, on) => `${formatUnits(units)} Einheiten am ${on}`,
    alreadyGot: (users, when, given, reason) =>
      `${formatUnits(users)} von diesen Benutzern ${users === 1 ? 'hat' : 'haben'}${when} schon Einheiten bekommen: ${given}${reason === '' ? '' : `, Grund: „${reason}“`}.`,
    alreadyGotUnits: (users, when) =>
      `${formatUnits(users)} von diesen Benutzern ${users === 1 ? 'hat' : 'haben'}${when} schon Einheiten bekommen:`,
    earlier: (users, given, reason) =>
      `${formatUnits(users)} Benutzer: ${given}${reason === '' ? '' : `, Grund: „${reason}“`}`,
    moreEarlier: count => `und ${formatUnits(count)} weitere`,
    decide: 'Was soll mit ihnen geschehen?',
    decideFirst: 'Oben erst wählen, was mit denen geschieht, die schon Einheiten bekommen haben.',
    leaveThem: users => (users === 1 ? 'Diesen Benutzer auslassen' : `Diese ${formatUnits(users)} auslassen`),
    giveAgain: users =>
      users === 1 ? 'Diesem Benutzer noch einmal geben' : `Diesen ${formatUnits(users)} noch einmal geben`,
    again: users => `${formatUnits(users)} davon ${users === 1 ? 'bekommt' : 'bekommen'} noch einmal Einheiten.`,
    note: {
      several: 'Hat mehrere passende Pakete: Das zuerst zahlende bekommt die Einheiten.',
      has_extra: 'Hat schon zusätzliche Einheiten.',
      capReached:
        'Eine Obergrenze ist ausgeschöpft: Die Einheiten nützen erst, wenn sie zurückgesetzt oder erhöht wird.',
      capSome: 'Eine Obergrenze hält einen Teil der Einheiten auf.',
      capNone: 'Eine Obergrenze hält alle Einheiten auf: Sie bringen nichts.',
      passes: (cap, { isUntilEnd, capacity, ending, usable, units }) =>
        `${isUntilEnd ? 'Bis die Einheiten enden,' : 'Ab jetzt'} lässt ${cap} ${capacity === 0 ? 'nichts' : `etwa ${formatUnits(capacity)}`} durch${ending === 0 ? '' : `, und ${formatUnits(ending)} sind schon da`}${usable === 0 ? '' : `: höchstens etwa ${formatUnits(usable)} der ${formatUnits(units)} lassen sich verbrauchen`}.`,
      has: cap => `Der Benutzer hat ${cap}.`,
      isUsedUp: 'Sie ist jetzt ausgeschöpft.',
      anotherUnlimited: 'Ein anderes Paket ist unbegrenzt.',
      caps: {
        ...eachPeriod(
          ({ adverb }) =>
            (units: string) =>
              `eine ${adverb}e Obergrenze von ${units} Einheiten`,
        ),
        once: (units: string) => `eine Obergrenze von insgesamt ${units} Einheiten`,
      },
    },
    not_a_user: 'Keine Benutzer-ID:',
    not_units: 'Keine Anzahl von Einheiten ab 1:',
    too_many_cells: 'Hat mehr Zellen als die Kopfzeile:',
    twice: 'Steht zweimal darin:',
    unitsEach: units => `je ${formatUnits(units)} Einheiten`,
    withSum: (each, sum) => `${each} (zusammen ${formatUnits(sum)})`,
    unitsInAll: units => `zusammen ${formatUnits(units)} Einheiten`,
    until: (at, zone) => `bis ${at} (${zone})`,
    untilOwnEnd: 'bis zum Ende des Zeitraums jedes Benutzers',
    untilAnyEnd: 'bis zum Ende des Zeitraums jedes Benutzers, der einen hat',
    withoutEnd: 'ohne Ende',
    fromNowOn: 'ab jetzt dauerhaft',
    partlyFromNowOn: until => `teils ab jetzt dauerhaft, teils ${until}`,
    noUser: 'Niemand bekommt Einheiten.',
    would: (users, of, units, until, reason) =>
      `${formatUnits(users)}${users === of ? '' : ` von ${formatUnits(of)}`} ${of === 1 || users === of ? 'Benutzer' : 'Benutzern'} ${users === 1 ? 'bekommt' : 'bekommen'} ${units}, ${until}. Grund: ${reason}`,
    received: (users, units, until) =>
      `${formatUnits(users)} Benutzer ${users === 1 ? 'hat' : 'haben'} ${units} ${until} bekommen.`,
    outcome: (failed, left) => `${formatUnits(failed)} fehlgeschlagen, ${formatUnits(left)} außen vor.`,
    gifts: (shown, of) =>
      shown === of
        ? 'Wer Einheiten bekommt'
        : `Wer Einheiten bekommt: die ersten ${formatUnits(shown)} von ${formatUnits(of)}`,
    gift: {
      user: 'Benutzer',
      grant: 'Paket',
      limit: 'Limit jetzt',
      total: 'Mit den Einheiten',
      end: 'Ende der Einheiten',
    },
    report: {
      columns: [
        'Zeile',
        'Benutzer',
        'Ergebnis',
        'Warum',
        'Paket',
        'Einheiten',
        'Ende der Einheiten',
        'Zeitzone',
        'Ergebniscode',
        'Referenz der Einheiten',
      ],
      results: {
        would: 'würde bekommen',
        received: 'bekommen',
        left: 'außen vor',
        failed: 'fehlgeschlagen',
        unknown: 'nicht sicher: nicht beendet',
      },
      never: 'nie',
      limitRaised: 'nie (Limit erhöht)',
    },
    left: count => `${formatUnits(count)} ${count === 1 ? 'Zeile bleibt' : 'Zeilen bleiben'} außen vor.`,
    leftOut: 'Wer außen vor bleibt',
    user: user => `Benutzer ${user}`,
    notes: 'Bitte beachten',
    capped: (users, of, none) =>
      `${formatUnits(users)} von ${formatUnits(of)} ${of === 1 ? 'Benutzer' : 'Benutzern'} ${users === 1 ? 'hat' : 'haben'} eine Obergrenze, die einen Teil der Einheiten aufhält${none === 0 ? '' : `; für ${formatUnits(none)} davon bringen sie nichts`}. Die Liste steht unten.`,
    confirm: users => `${formatUnits(users)} ${users === 1 ? 'Benutzer' : 'Benutzern'} die Einheiten geben`,
    undo: {
      later: name =>
        `Später stehen die Pakete in der Liste der Kontingente unter ihrem Namen, „${name}…“. Unverbrauchte lassen sich dort löschen.`,
      title: 'Diesen Import rückgängig machen',
      stayRaised: users =>
        `Die erhöhten Limits von ${formatUnits(users)} ${users === 1 ? 'Benutzer' : 'Benutzern'} bleiben, wie sie sind.`,
      kept: count => `${formatUnits(count)} ${count === 1 ? 'Paket bleibt' : 'Pakete bleiben'} bestehen.`,
      touched: 'Davon sind Einheiten verbraucht oder reserviert:',
      units: (units, limit) => `${units} von ${limit}`,
      none: 'Kein Paket dieses Imports ist übrig, das gelöscht werden könnte.',
    },
    tooMany: max => `Die Datei nennt mehr als ${formatUnits(max)} Benutzer. Bitte teilen.`,
  },
}
