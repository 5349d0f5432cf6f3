import { formatUnits } from '../../formats.ts'
import type { overviewParts as english } from '../en/overview-parts.tsx'
import { eachPeriod } from './periods.ts'
import { values } from './values.tsx'

export const overviewParts: typeof english = {
  pumping: {
    title: 'Codes und angehaltene Ziele',
    all: 'Alle angehaltenen Ziele',
    paused: count => `${count === 1 ? 'Ziel ist' : 'Ziele sind'} angehalten`,
    observed: (count, isMore) =>
      `${isMore ? 'Mindestens ' : ''}${formatUnits(count)} in 24 Stunden beobachtet: nur gefunden, nicht angehalten`,
    until: at => <>bis {at}</>,
    entered: 'Eingegebene Codes in 8 Tagen',
    enteredAbout: 'Nachrichten aller Arten, auch solche ohne Code.',
    columns: { country: 'Land', entered: 'Eingegeben' },
  },
  runningOut: {
    title: 'Diese Woche aufgebraucht',
    about:
      'In den nächsten 7 Tagen, bei ihrem Tagesverbrauch: dem Mittel von bis zu vier Wochen, in dem die letzten mehr zählen. Was fehlt, zählt bis zur nächsten Zurücksetzung oder bis zum Ende der 7 Tage. Ohne Benutzer, die nur eine Obergrenze aufhält, die in dieser Zeit zurückgesetzt wird. Obergrenzen für bestimmte Länder oder Nachrichtentypen sind nicht berücksichtigt. Wer jetzt nichts senden kann, steht unter „Jetzt blockiert“.',
    all: count => `Geprüft: ${formatUnits(count)} Benutzer, alle, die in den letzten 7 Tagen gesendet haben.`,
    bound: count =>
      `Geprüft sind ${formatUnits(count)} Benutzer: die 100, die in den letzten 7 Tagen am meisten gesendet haben, und die der 100 Kontingente am nächsten am Limit. Auch anderen können die Einheiten ausgehen.`,
    tooMany: 'Es sind zu viele Benutzer, um hier alle zu prüfen.',
    checkAll: 'Alle prüfen',
    soon: 'In wenigen Minuten',
    unused: units => `Endet mit etwa ${formatUnits(units)} ungenutzten`,
    none: 'Niemandem gehen in 7 Tagen die Einheiten aus',
    noneAbout: 'Eine Prognose braucht eine Woche Verbrauch.',
    columns: {
      user: 'Benutzer',
      runsOut: 'Aufgebraucht etwa',
      rate: 'Einheiten pro Tag',
      left: 'Übrig',
      missing: 'Fehlen danach',
    },
    until: at => <>bis {at}</>,
  },
  near: {
    title: 'Kurz vor dem Limit',
    about:
      'Kontingente, die eine Warnschwelle erreicht haben, normalerweise 80 %. Was der Benutzer noch senden kann, zählt andere Pakete, etwa Zusatzeinheiten, und Obergrenzen mit.',
    until: (units, at) => (
      <>
        {formatUnits(units)} bis {at}
      </>
    ),
    more: 'Weitere Kontingente haben eine Warnschwelle erreicht.',
    none: 'Kein Kontingent ist kurz vor dem Limit',
    noneAbout: 'Kontingente erscheinen hier, wenn sie eine Warnschwelle erreichen, normalerweise 80 %.',
    columns: {
      quota: 'Kontingent',
      used: 'Verbraucht',
      usage: 'Verbrauch',
      sendable: 'Kann noch senden',
      resets: 'Zurücksetzung',
      ends: 'Endet',
    },
    never: 'Nie',
  },
  ending: {
    title: 'Enden diese Woche',
    about: 'In den nächsten 7 Tagen, die mit den meisten übrigen Einheiten zuerst.',
    all: 'Alle, die in 7 Tagen enden',
    none: 'Kein Kontingent endet in 7 Tagen',
    noOther: 'Nur zusätzliche Einheiten enden in 7 Tagen',
    columns: { quota: 'Kontingent', left: 'Übrig', usage: 'Verbrauch', ends: 'Endet' },
    extra: count =>
      count === 1
        ? '1 zusätzliches Paket, das nur für seinen Zeitraum vergeben wurde.'
        : `${formatUnits(count)} zusätzliche Pakete, die nur für ihren Zeitraum vergeben wurden.`,
    bound: count => `Von den ${formatUnits(count)}, die zuerst enden.`,
  },
  senders: {
    all: 'Alle Benutzer, die in den letzten 24 Stunden dorthin gesendet haben oder abgelehnt wurden.',
    top: (count, { sent, most }) =>
      `Die letzten 24 Stunden: die ${formatUnits(count)} Benutzer, die am meisten gesendet haben. Andere, die zusammen ${formatUnits(sent)} Einheiten und jeweils höchstens ${formatUnits(most)} gesendet haben, und Benutzer, die nur abgelehnt wurden, sind nicht aufgeführt.`,
    none: 'Kein Benutzer sendet dorthin',
    table: 'Benutzer, die dorthin senden',
    columns: { user: 'Benutzer', sent: 'Verbrauchte Einheiten', denied: 'Abgelehnte Einheiten', action: 'Aktion' },
    cap: name => `${name} sperren …`,
    capFor: (name, user) => `${name} für Benutzer ${user} sperren`,
    blockAll: {
      open: (name, count) => `${name} für alle ${formatUnits(count)} Benutzer sperren …`,
      openTop: (name, count) => `${name} für diese ${formatUnits(count)} Benutzer sperren …`,
      about: (name, count) =>
        `Jeder dieser ${formatUnits(count)} Benutzer erhält eine Obergrenze von 0 für ${name}, die einzeln aufgehoben werden kann. Wer hier nicht steht, etwa weil noch nichts dorthin gesendet wurde, wird nicht gesperrt.`,
      confirm: count => `Für ${formatUnits(count)} Benutzer sperren`,
    },
    blocked: 'Gesperrt',
    blockedFor: (name, user) => `Gesperrt: ${name} für Benutzer ${user}`,
  },
  top: {
    title: 'Größte Benutzer',
    period: 'Zeitraum',
    periods: { today: 'Heute', week: '7 Tage' },
    none: { today: 'Heute keine Nachrichten', week: 'Keine Nachrichten in den letzten 7 Tagen' },
    noneAbout: 'Benutzer erscheinen hier nach ihrer ersten Nachricht.',
    columns: { user: 'Benutzer', units: 'Einheiten', messages: 'Nachrichten', denied: 'Abgelehnt' },
  },
  activity: {
    title: 'Ereignisse',
    none: 'Noch keine Ereignisse',
    noneAbout: 'Änderungen von Kontingenten, Warnungen und Abläufe erscheinen hier von selbst.',
    since: (count, time) => (
      <>
        {count === 0 ? 'Keine neuen Ereignisse' : `${formatUnits(count)} neue`} seit {time}
      </>
    ),
    counted: (read, listed) =>
      `; gezählt sind die letzten ${formatUnits(read)}, davon ${formatUnits(listed)} aufgeführt`,
    skipped: '. Einige Ereignisse wurden übersprungen',
    announcement: (count, latest) =>
      `${formatUnits(count)} ${count === 1 ? 'neues Ereignis' : 'neue Ereignisse'}${latest === null ? '' : `, zuletzt: ${latest}`}`,
    group: (count, what) => `${formatUnits(count)} × ${what}`,
    kinds: {
      created: {
        grant: actor => `Paket angelegt durch ${actor}`,
        cap: actor => `Obergrenze angelegt durch ${actor}`,
        block: actor => `Sperre angelegt durch ${actor}`,
        extra: actor => `zusätzliche Einheiten gegeben durch ${actor}`,
      },
      updated: actor => `Kontingent geändert durch ${actor}`,
      deleted: actor => `Kontingent gelöscht durch ${actor}`,
      threshold: percent => `Warnschwelle erreicht: ${percent} %`,
      exhausted: 'Kontingent aufgebraucht',
      ended: 'Kontingent abgelaufen',
      expired: 'Reservierung abgelaufen',
      transferred: {
        'transfer.made': 'Einheiten übertragen',
        'transfer.returned': 'Einheiten zurückgegeben',
      },
      requested: {
        open: 'mehr Einheiten erbeten',
        approved: 'Anfrage bewilligt',
        declined: 'Anfrage abgelehnt',
        withdrawn: 'Anfrage zurückgezogen',
      },
      paused: {
        'pause.made': 'Ziel angehalten',
        'pause.lifted': 'Ziel freigegeben',
        'breaker.tripped': 'künstlicher Verkehr',
      },
      disabled: 'Webhook abgeschaltet',
      erased: 'Benutzer gelöscht',
    },
    notListed: count => `${formatUnits(count)} ältere sind nicht aufgeführt.`,
    usersOf: (links, _, more, isAll) => (
      <>
        Benutzer {links}
        {isAll ? more > 0 && ` und ${formatUnits(more)} weitere` : ' und andere'}
      </>
    ),
  },
  you: 'Sie',
  events: {
    quota: id => `Kontingent ${id}`,
    reservation: id => `Reservierung ${id}`,
    webhook: id => `Webhook ${id}`,
    created: (actor, allowance) => `angelegt durch ${actor}: ${allowance}`,
    updated: (actor, allowance) => `geändert durch ${actor}: jetzt ${allowance}`,
    deleted: actor => `gelöscht durch ${actor}`,
    exhausted: 'aufgebraucht',
    reached: (percent, remaining) =>
      `hat ${percent} % erreicht${remaining === null ? '' : `: ${values.units(remaining)} übrig`}`,
    ended: 'abgelaufen',
    transferred: {
      'transfer.made': {
        in: units => `kam durch eine Übertragung, ${values.units(units)}`,
        out: units => `hat ${values.units(units)} abgegeben`,
      },
      'transfer.returned': {
        in: units => `hat ${values.units(units)} zurückbekommen`,
        out: units => `hat ${values.units(units)} zurückgegeben`,
      },
    },
    request: units => `Anfrage nach ${values.units(units)}`,
    requested: { open: 'gestellt', approved: 'bewilligt', declined: 'abgelehnt', withdrawn: 'zurückgezogen' },
    paused: {
      'pause.made': ({ isForAll, until }) =>
        `angehalten${isForAll ? ' für alle Benutzer' : ''} ${until === null ? 'bis zur Freigabe' : `bis ${until}`}`,
      'pause.lifted': ({ isForAll }) => `nicht mehr angehalten${isForAll ? ' für alle Benutzer' : ''}`,
      'breaker.tripped': ({ observed, codes }) =>
        `${codes} ${codes === 1 ? 'Code' : 'Codes'} nicht eingegeben: ${observed ? 'würde angehalten' : 'vom Wächter angehalten'}`,
    },
    expiredCommitted: units => `abgelaufen, ${values.units(units)} bestätigt`,
    expiredReleased: units => `abgelaufen, ${values.units(units)} freigegeben`,
    disabledGone: 'abgeschaltet: der Empfänger antwortete 410 Gone',
    disabledFailing: 'abgeschaltet: alle Zustellungen schlugen fehl',
    erased: 'gelöscht',
    unlimited: 'unbegrenzt',
    each: eachPeriod(({ per }) => ` ${per}`),
    from: at => ` ab ${at}`,
    until: at => ` bis ${at}`,
    raised: (limit, at, after) => `${limit} bis ${at}, danach wieder ${after}`,
    suspended: ', ausgesetzt',
  },
}
