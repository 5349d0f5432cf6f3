import { formatUnits } from '../../formats.ts'
import { capitalized } from '../by-period.ts'
import type { dialogs as english } from '../en/quota-dialogs.tsx'
import { eachPeriod } from './periods.ts'
import { values } from './values.tsx'

const sendable = (units: number | null) => (units === null ? 'beliebig viele Einheiten' : values.units(units))

/** The dialogs that change a quota, a part of the texts `quota`. */
export const dialogs: typeof english = {
  effect: {
    liftsLimit: 'Das hebt eine Grenze auf.',
    losesUnits: units =>
      units === null
        ? 'Ein unbegrenztes Paket fällt weg.'
        : `${values.units(units)} ${units === 1 ? 'ist' : 'sind'} nicht mehr nutzbar.`,
    scope: (country, type) =>
      [
        ...(type === null ? [] : [` in Nachrichten vom Typ ${type}`]),
        ...(country === null ? [] : [` mit Ziel ${country}`]),
      ].join(''),
    canSend: (user, before, after, scope) =>
      before === after && after === 0
        ? `Benutzer ${user} kann jetzt nichts${scope} versenden, ob mit oder ohne dieses Kontingent.`
        : before === after
          ? `Benutzer ${user} kann weiterhin ${sendable(after)}${scope} versenden, wie andere Kontingente es erlauben.`
          : `Benutzer ${user} kann dann jetzt ${sendable(after)}${scope} versenden statt ${before === null ? 'beliebig vieler' : formatUnits(before)}.`,
    unknown: user => `Wie viele Einheiten Benutzer ${user} dann versenden kann, ließ sich nicht lesen.`,
  },
  adjust: {
    direction: 'Richtung',
    add: 'Einheiten hinzufügen',
    remove: 'Einheiten abziehen',
    units: 'Einheiten',
    unitsToAdd: 'Einheiten mehr',
    quickAmounts: 'Häufige Mengen',
    covers: change => `${change} reicht für das Abgelehnte`,
    coversBusiest: {
      hour: (change, hours) => `${change} reicht für die stärkste der letzten ${hours} Stunden`,
      day: (change, days) => `${change} reicht für den stärksten der letzten ${days} Tage`,
      week: (change, weeks) => `${change} reicht für die stärkste der letzten ${weeks} Wochen`,
      month: (change, months) => `${change} reicht für den stärksten der letzten ${months} Monate`,
    },
    busiest: {
      hour: (hours, units) => `In der stärksten der letzten ${hours} Stunden waren es ${formatUnits(units)}.`,
      day: (days, units) => `Am stärksten der letzten ${days} Tage waren es ${formatUnits(units)}.`,
      week: (weeks, units) => `In der stärksten der letzten ${weeks} Wochen waren es ${formatUnits(units)}.`,
      month: (months, units) => `Im stärksten der letzten ${months} Monate waren es ${formatUnits(units)}.`,
    },
    deniedBefore: {
      hour: (denied, hours) => `Auch in ${denied} der letzten ${hours} Stunden wurden Einheiten abgelehnt.`,
      day: (denied, days) => `Auch an ${denied} der letzten ${days} Tage wurden Einheiten abgelehnt.`,
      week: (denied, weeks) => `Auch in ${denied} der letzten ${weeks} Wochen wurden Einheiten abgelehnt.`,
      month: (denied, months) => `Auch in ${denied} der letzten ${months} Monate wurden Einheiten abgelehnt.`,
    },
    demand: (when, granted, denied, kind) =>
      `${when} ${granted + denied === 1 ? 'wurde' : 'wurden'} ${values.units(granted + denied)} angefragt: ${formatUnits(granted)} gewährt, ${formatUnits(denied)} wegen ${kind === 'cap' ? 'einer Obergrenze' : 'zu weniger Einheiten'} abgelehnt. Jeder Versuch zählt.`,
    demandIn: { ...eachPeriod(({ current }) => capitalized(current)), none: 'In den letzten 24 Stunden' },
    bound: units => `Die eigene Rolle darf die Limits eines Benutzers um bis zu ${values.units(units)} am Tag ändern.`,
    windows: 'Wie lange',
    everyWindow: eachPeriod(({ each }) => `Ab jetzt ${each}`),
    thisWindow: eachPeriod(({ currentAsObject }) => `Nur ${currentAsObject}`),
    limitNow: (limit, left) =>
      `Das Limit ist ${formatUnits(limit)}${left === null ? '' : `; ${formatUnits(left)} sind übrig`}.`,
    limitGoes: (from, to) => `Das Limit geht von ${formatUnits(from)} auf ${formatUnits(to)}.`,
    inEveryWindow: eachPeriod(({ currentAndLater }) => `Das gilt ${currentAndLater}.`),
    leftInWindow: (from, to) => `Jetzt sind dann ${formatUnits(to)} übrig statt ${formatUnits(from)}.`,
    addsGrant: (units, end, limit) => (
      <>
        Das fügt ein einmaliges Paket mit {values.units(units)} hinzu, das am {end} endet. Das Limit bleibt{' '}
        {formatUnits(limit)}, und der Rest der zusätzlichen Einheiten geht nicht über.
      </>
    ),
    grantName: 'Zusätzlich:',
    reason: 'Grund',
    reasonAbout: 'Steht im Verlauf.',
    reasonOfGrant: 'Steht in den Metadaten des zusätzlichen Pakets.',
    commonReasons: 'Häufige Gründe',
    reasons: {
      grant: ['Kundenwunsch', 'Kulanz', 'Bezahlte Aufstockung', 'Kampagne', 'Korrektur'],
      cap: ['Kundenwunsch', 'Obergrenze zu niedrig', 'Kulanz', 'Kampagne', 'Korrektur'],
    },
    submit: 'Limit anpassen',
    submitGrant: 'Einheiten hinzufügen',
    usedUp:
      'Mit dem, was der Support in den letzten 24 Stunden für diesen Benutzer geändert hat, ist es mehr, als die eigene Rolle ändern darf.',
    above: 'Das ist mehr, als diese Rolle ändern darf.',
    ask: 'Administratoren fragen',
    asked: 'Die Administratoren sind nach den Einheiten gefragt.',
    done: limit => `Das Limit ist jetzt ${formatUnits(limit)}.`,
    grantDone: units => `${values.units(units)} hinzugefügt, als eigenes Paket.`,
    raises: (from, to, until) => (
      <>
        Das Limit ist {formatUnits(to)} bis {until}, und danach wieder {formatUnits(from)}.
      </>
    ),
    raiseDone: 'Die Obergrenze ist angehoben.',
    raisedAlready: eachPeriod(
      ({ currentAsObject }) =>
        `Sie ist schon angehoben, nur für ${currentAsObject}. Was hinzukommt, gilt auch nur so lange.`,
    ),
    adjustFollowing: 'Um sie auf Dauer anzuheben: die folgende Obergrenze anpassen.',
    errors: {
      delta: `Eine ganze Zahl ab 1 eingeben. Das Limit muss von 0 bis ${formatUnits(10 ** 12)} bleiben.`,
      reason: 'Einen Grund mit 1 bis 500 Zeichen eingeben.',
    },
  },
  belowUsage: {
    text: 'Das Limit lässt sich trotzdem setzen. Verbrauchte Einheiten bleiben verbraucht, und das Kontingent ist aufgebraucht, bis es zurückgesetzt wird oder das Limit steigt.',
    confirm: 'Limit trotzdem setzen',
  },
  suspend: {
    about: {
      grant: 'Die Zeiträume laufen weiter, solange das Paket ausgesetzt ist. Es lässt sich jederzeit fortsetzen.',
      cap: 'Solange die Obergrenze ausgesetzt ist, begrenzt sie nichts, und was dann versendet wird, zählt nicht in ihr. Sie lässt sich jederzeit fortsetzen.',
    },
    consent: user => `Diese Grenze von Benutzer ${user} aufheben`,
    consentMissing: 'Bitte ankreuzen, um das Aufheben der Grenze zu bestätigen.',
    submit: { grant: 'Paket aussetzen', cap: 'Obergrenze aussetzen' },
    done: {
      grant: 'Ausgesetzt: Versender können es nicht nutzen.',
      cap: 'Ausgesetzt: Die Obergrenze begrenzt nichts.',
    },
  },
  delete: {
    about: {
      grant: user =>
        `Benutzer ${user} kann dieses Paket nicht mehr nutzen. Das lässt sich nicht rückgängig machen. Der Verlauf bleibt erhalten, und offene Reservierungen lassen sich noch bestätigen oder freigeben.`,
      cap: user =>
        `Die Obergrenze begrenzt Benutzer ${user} nicht mehr. Das lässt sich nicht rückgängig machen. Der Verlauf bleibt erhalten.`,
    },
    changedMeanwhile: 'Das Kontingent wurde inzwischen geändert. Zum Löschen noch einmal bestätigen.',
    typeName: id => `Zum Löschen den Namen oder die Nummer ${id} eingeben`,
    typeId: id => `Zum Löschen die Nummer ${id} eingeben`,
    notConfirmed: id => `Den Namen dieses Kontingents oder seine Nummer ${id} eingeben.`,
    submit: { grant: 'Paket löschen', cap: 'Obergrenze löschen' },
    done: { grant: 'Das Paket ist gelöscht.', cap: 'Die Obergrenze ist gelöscht.' },
  },
}
