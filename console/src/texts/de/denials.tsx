import { countryLabel, formatUnits } from '../../formats.ts'
import type { denials as english } from '../en/denials.tsx'

export const denials: typeof english = {
  table: 'Ablehnungen',
  columns: {
    message: 'Nachricht',
    denied: 'Abgelehnt',
    reason: 'Grund',
    units: 'Einheiten',
    destination: 'Für',
    limitedBy: 'Begrenzt durch',
    retryAt: 'Neuer Versuch ab',
  },
  explain: 'Erklären',
  explainMessage: id => `Erklären: ${id}`,
  skipped: count =>
    `${formatUnits(count)} frühere sind gezählt, aber nicht aufgeführt: höchstens 60 je Benutzer und Stunde`,
  noCountry: 'Kein Land',
  without: { country: 'Kein Land', message_type: 'Kein Typ', sender: 'Versender nicht bekannt' },
  noQuota: 'Keines',
  waitingDoesNotHelp: 'Warten hilft nicht',

  reasonSentences: {
    no_quota: 'Kein Paket galt für diese Nachricht.',
    cap_reached: 'Eine Obergrenze ließ zu wenig Raum.',
    quota_exhausted: 'Die Pakete für diese Nachricht hatten zu wenige Einheiten übrig.',
    destination_paused: 'Das Ziel dieser Nachricht war angehalten.',
  },
  ownReasons: {
    no_quota: 'Nicht enthalten',
    cap_reached: 'Limit erreicht',
    quota_exhausted: 'Aufgebraucht',
    destination_paused: 'Angehalten',
  },
  ownReasonSentences: {
    no_quota: 'Keines der eigenen Pakete galt für diese Nachricht.',
    cap_reached: 'Eines der eigenen Limits ließ zu wenig Raum.',
    quota_exhausted: 'Die eigenen Pakete für diese Nachricht hatten zu wenige Einheiten übrig.',
    destination_paused: 'Das Ziel dieser Nachricht war angehalten.',
  },

  filters: {
    reason: { label: 'Grund', all: 'Alle Gründe' },
    message: {
      label: 'Nachrichten-ID',
      all: 'Alle Nachrichten',
      error: 'Bis zu 128 Buchstaben, Ziffern und . _ : -, am Anfang ein Buchstabe oder eine Ziffer',
    },
    messageType: { label: 'Nachrichtentyp', all: 'Alle Typen', error: 'Bis zu 64 Kleinbuchstaben, Ziffern, _ und -' },
    sender: { label: 'Versender', all: 'Alle Versender', error: 'Bis zu 255 Zeichen: das Subject seines Tokens' },
    remove: filter => `Filter entfernen: ${filter}`,
  },
  none: 'Keine Ablehnungen',
  noneAbout: 'Abgelehnte Nachrichten erscheinen hier. Sie werden einige Tage aufbewahrt, normalerweise 7.',
  kept: 'Ablehnungen werden einige Tage aufbewahrt, normalerweise 7.',
  found: {
    title: 'Nachrichten mit dieser ID',
    none: 'Unter dieser ID wurde keine Nachricht gesendet oder reserviert. Ablehnungen, falls es welche gibt, stehen unten.',
    more: 'Weitere IDs beginnen so. Mehr von der ID eingeben.',
    life: id => <>Alles, was mit Nachricht {id} geschah</>,
  },

  explanation: {
    title: 'Warum sie abgelehnt wurde',
    message: 'Nachricht',
    user: 'Benutzer',
    denied: 'Abgelehnt',
    destination: 'Für',
    asked: 'Verlangt',
    sender: 'Versender',
    retryAt: 'Neuer Versuch ab',
    orFewer: units => `${units} oder weniger`,
    sendable: (asked, units) => `${asked}; ${units === 0 ? 'keine' : formatUnits(units)} hätten gesendet werden können`,
    considered: 'Betrachtete Kontingente',
    asOfThen: time => <>Das war der Stand vom {time}. Kontingente können sich seitdem geändert haben.</>,
    noQuotas: 'Es gab keine Kontingente.',
    incomplete: kept => `Andere können fehlen: das Protokoll behält ${kept} und die zuletzt abgelaufenen.`,
    endedOn: time => <>Zählte nicht: abgelaufen am {time}</>,
    verdicts: {
      blocks: 'Hielt die Nachricht auf: zu wenig Raum',
      exhausted: 'Nichts mehr übrig',
      capHasRoom: 'Ließ genug Raum',
      hasUnits: 'Gilt für die Nachricht und hatte Einheiten übrig',
      hasTooFewUnits: 'Gilt für die Nachricht, hatte aber zu wenige Einheiten übrig',
      suspended: 'Zählte nicht: ausgesetzt',
      scheduled: 'Zählte nicht: noch nicht begonnen',
      no_value: 'Zählte nicht: zählt Empfänger, Länder oder Kennzeichen je für sich, und die Nachricht nannte keines',
      expired: 'Zählte nicht: abgelaufen',
      otherCountry: country => `Zählte nicht: gilt nicht für ${countryLabel(country)}`,
      needsCountry: 'Zählte nicht: gilt für bestimmte Länder, und die Nachricht nannte keines',
      otherType: type => `Zählte nicht: gilt nicht für den Typ ${type}`,
      needsType: 'Zählte nicht: gilt für bestimmte Nachrichtentypen, und die Nachricht nannte keinen',
      draws: 'Hätte bezahlt',
      notNeeded: 'Wurde nicht gebraucht',
    },
    helps: 'Was hilft',
    createGrant: 'Ein Paket anlegen, das für diese Nachricht gilt',
    raiseCap: 'Limit erhöhen',
    addUnits: 'Einheiten hinzufügen',
    now: {
      left: (left, whole) => `Jetzt ${formatUnits(left)} von ${whole} übrig`,
      reached: {
        recipient: rule => `Limit: ${rule}. Diese Nummer hatte es erreicht.`,
        country: rule => `Limit: ${rule}. Dieses Land hatte es erreicht.`,
        tag: rule => `Limit: ${rule}. Dieses Kennzeichen hatte es erreicht.`,
      },
      again: at => <>Es geht wieder ab {at}.</>,
      enough: ': genug für diese Nachricht',
    },
    block: {
      by: (actor, at) => (
        <>
          Absichtlich gesperrt von {actor} am {at}
        </>
      ),
      reason: reason => <>Grund: {reason}</>,
      noReason: 'Kein Grund angegeben.',
      lift: 'Sperre aufheben',
    },
    askForMore: 'Die Verwaltung um mehr Einheiten bitten.',
    askForRoom: 'Die Verwaltung bitten, die Obergrenze anzuheben, falls Warten zu lange dauert.',
  },

  message: {
    title: id => `Nachricht ${id}`,
    about: user => <>Alles, was mit dieser Nachricht von {user} geschah.</>,
    user: id => `Benutzer ${id}`,
    back: 'Alle Nachrichten',
    life: 'Verlauf der Nachricht',
    facts: { units: 'Einheiten', asked: 'Verlangt', destination: 'Für', state: 'Zustand' },
    notFound: 'Über diese Nachricht ist nichts bekannt',
    notFoundAbout:
      'Kein Versender hat unter dieser ID und diesem Benutzer nach ihr gefragt, oder es ist so lange her, dass sie nicht mehr aufbewahrt wird.',
    outcomes: {
      denied:
        'Sie wurde abgelehnt, nichts wurde berechnet. Von selbst wird sie nicht später gesendet: das sendende System muss noch einmal fragen.',
      reserved: 'Ihre Einheiten sind zurückgelegt. Der Versender hat noch nicht gesagt, ob sie gesendet wurde.',
      committed: 'Sie wurde erlaubt und berechnet. Ob sie das Telefon erreicht hat, ist hier nicht bekannt.',
      refunded: 'Sie wurde berechnet und vollständig erstattet.',
      released: 'Ihre Einheiten wurden vor dem Senden freigegeben. Nichts wurde berechnet.',
      expired:
        'Der Versender hat nie gesagt, dass sie gesendet wurde. Ihre Einheiten wurden freigegeben, nichts wurde berechnet.',
    },
    denied: reason => `Abgelehnt: ${reason}`,
    askedFor: units => `${units} verlangt`,
    limitedBy: (quota, sendable) => (
      <>
        Begrenzt durch {quota}
        {sendable !== null && `: ${sendable === 0 ? 'keine' : formatUnits(sendable)} hätten gesendet werden können`}
      </>
    ),
    retryAt: time => <>Nach den Kontingenten von damals kann sie ab {time} gehen</>,
    explain: 'Warum?',
    earlier: 'Frühere Ablehnungen dieser ID stehen im Protokoll.',
    reserved: units => `Reserviert: ${units}`,
    consumed: units => `In einem Aufruf reserviert und bestätigt: ${units}`,
    opening: units => `Anfangsbestand: ${units} vorher verbraucht`,
    transferred: units => `${units} übertragen`,
    fewerThanAsked: asked => `${asked} waren verlangt`,
    forced: 'Über alle Grenzen: der Versender hatte sie schon gesendet, oder Grenzen wurden nur beobachtet',
    charged: 'Bezahlt von',
    counted: 'Gezählt von',
    unfunded: units => `${units} hat kein Paket bezahlt`,
    ownUnfunded: units => `${units} waren in keinem Paket`,
    draw: (units, windowStart) => (
      <>
        {units}, im Zeitraum ab {windowStart}
      </>
    ),
    by: sender => <>durch Versender {sender}</>,
    unknownTime: 'Zeit nicht aufgezeichnet',
    committed: units => `${units} bestätigt`,
    released: units => `${units} freigegeben`,
    expired: units => `Abgelaufen, ${units} freigegeben`,
    committedByForce: units => `Über die Grenzen bestätigt: insgesamt ${units}`,
    refunded: units => `Erstattet: insgesamt ${units}`,
    verified: 'Code eingegeben',
    outstanding: units => `${units} noch reserviert`,
    releasedAt: time => <>Wird freigegeben, wenn nicht bestätigt bis {time}</>,
    committedAt: time => <>Wird bestätigt, wenn nicht freigegeben bis {time}</>,
    request: id => `Anfrage ${id}`,
    own: {
      notFoundAbout:
        'Unter dieser ID wurde nie nach ihr gefragt, oder es ist so lange her, dass sie nicht mehr aufbewahrt wird.',
      outcomes: {
        denied: 'Sie wurde abgelehnt, nichts wurde berechnet. Sie kann später noch einmal gesendet werden.',
        reserved: 'Sie ist unterwegs. Ihre Einheiten sind zurückgelegt.',
        committed: 'Sie wurde erlaubt und berechnet.',
        refunded: 'Sie wurde berechnet, und alles wurde zurückgegeben.',
        released: 'Sie wurde nicht gesendet. Nichts wurde berechnet.',
        expired: 'Sie wurde nie gesendet. Nichts wurde berechnet.',
      },
      forced: 'Über alle Grenzen',
      reserved: units => `Zurückgelegt: ${units}`,
      consumed: units => `Sofort berechnet: ${units}`,
      committed: units => `${units} berechnet`,
      released: units => `${units} nicht gebraucht`,
      expired: units => `Nie gesendet, ${units} nicht gebraucht`,
      committedByForce: units => `Über jede Grenze hinaus berechnet: insgesamt ${units}`,
      refunded: units => `Zurückgegeben: insgesamt ${units}`,
      outstanding: units => `${units} noch zurückgelegt`,
      releasedAt: time => <>Wird nicht berechnet, wenn sie bis {time} nicht gesendet ist</>,
      committedAt: time => <>Wird bis {time} berechnet, wenn sie nicht ausfällt</>,
    },
  },
}
