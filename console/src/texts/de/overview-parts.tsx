import { formatUnits } from '../../formats.ts'
import type { overviewParts as english } from '../en/overview-parts.tsx'
import { eachPeriod } from './periods.ts'
import { someUsers } from './some-users.ts'
import { values } from './values.tsx'

export const overviewParts: typeof english = {
  senders: {
    period: 'Zeitraum',
    periods: { hour: 'Letzte Stunde', day: 'Letzte 24 Stunden', week: 'Letzte 7 Tage', month: 'Letzte 30 Tage' },
    within: {
      hour: 'der letzten Stunde',
      day: 'den letzten 24 Stunden',
      week: 'den letzten 7 Tagen',
      month: 'den letzten 30 Tagen',
    },
    all: within => `Alle Benutzer, die in ${within} dorthin gesendet haben oder abgelehnt wurden.`,
    top: (within, count, { sent, most }) =>
      `In ${within}: die ${formatUnits(count)} Benutzer, die am meisten gesendet haben. Andere, die zusammen ${formatUnits(sent)} Einheiten und jeweils höchstens ${formatUnits(most)} gesendet haben, und Benutzer, die nur abgelehnt wurden, sind nicht aufgeführt.`,
    none: 'Kein Benutzer sendet dorthin',
    table: 'Benutzer, die dorthin senden',
    columns: {
      user: 'Benutzer',
      sent: 'Verbrauchte Einheiten',
      share: 'Anteil',
      denied: 'Abgelehnte Einheiten',
      select: 'Auswahl',
    },
    select: user => `Benutzer ${user} auswählen`,
    blockAll: {
      open: (name, of, count) => `${name} für ${someUsers[of](count)} sperren …`,
      about: (name, of, count) =>
        `Eine Obergrenze von 0 für ${name} für ${someUsers[of](count)}, für jeden eine, die einzeln aufgehoben werden kann. Wer hier nicht steht, etwa weil noch nichts dorthin gesendet wurde, wird nicht gesperrt.`,
      confirm: (of, count) => `Für ${someUsers[of](count)} sperren`,
    },
    blocked: 'Gesperrt',
    blockedFor: (name, user) => `Gesperrt: ${name} für Benutzer ${user}`,
  },
  top: {
    title: 'Größte Benutzer',
    none: 'Keine Nachrichten in diesem Zeitraum',
    noneAbout: 'Benutzer erscheinen hier nach ihrer ersten Nachricht.',
  },
  activity: {
    title: 'Ereignisse',
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
    usersOf: (links, _, more) => (
      <>
        Benutzer {links}
        {more > 0 && ` und ${formatUnits(more)} weitere`}
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
        `${codes} ${codes === 1 ? 'Code' : 'Codes'} nicht eingegeben: ${observed ? 'würde angehalten' : 'von der Sicherung angehalten'}`,
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
