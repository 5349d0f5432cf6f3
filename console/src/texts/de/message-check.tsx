import { formatUnits } from '../../formats.ts'
import type { messageCheck as english } from '../en/message-check.tsx'
import { values } from './values.tsx'

export const messageCheck: typeof english = {
  title: 'Ginge diese Nachricht hinaus?',
  about:
    'Nichts wird reserviert oder gesendet. Der Text bleibt im Browser. Nummer und Kennzeichen werden nirgends gespeichert.',
  to: 'Telefonnummer oder Land',
  toAbout: 'Optional. Bestimmt, welche Kontingente gelten. Eine Nummer ist auch der Empfänger.',
  toPlaceholder: '+49 151 12345678 oder DE',
  toError: 'Bitte eine Nummer mit + und Landesvorwahl oder die zwei Buchstaben eines Landes eingeben.',
  unknownCountry: 'Diese Nummer gehört zu keinem Land.',
  sharedCode: (main, others) =>
    `Steht nicht im Rufnummernplan: ${main} für Pakete. Obergrenzen für ${others} zählen sie ebenfalls.`,
  by: 'Kosten nach',
  byText: 'Text',
  byUnits: 'Einheiten',
  text: 'Text',
  units: 'Einheiten',
  textError: 'Eine Nachricht hat höchstens 255 Segmente. Bitte den Text kürzen.',
  unitsError: most => `Bitte eine ganze Zahl von 1 bis ${formatUnits(most)} eingeben.`,
  type: 'Nachrichtentyp',
  typeAbout: 'Optional, etwa otp',
  typeError: 'Bis zu 64 Kleinbuchstaben, Ziffern, _ und -',
  tag: 'Kennzeichen',
  tagAbout: 'Optional, etwa vertrieb',
  submit: 'Prüfen',
  costs: (units, encoding) => {
    if (encoding === null) return `Sie kostet ${values.units(units)}.`
    const segments = units === 1 ? 'ein Segment' : `${formatUnits(units)} Segmente`
    return `Sie kostet ${values.units(units)}: ${segments} in ${encoding}.`
  },
  costsWithoutText: units => `Ohne Text zählt sie als ein Segment: ${values.units(units)}.`,
  priced: (units, price) => `Sie kostet ${values.units(units)}: ${price}.`,
  pricedByNumber: 'Eine Preisliste bestimmt ihren Preis nach der Nummer: bitte eine eingeben.',
  goes: 'Ja, sie ginge jetzt hinaus.',
  denied: why => `Nein: ${why}.`,
  observed: 'Im Beobachtungsmodus geht sie trotzdem hinaus.',
  reasons: {
    no_quota: 'kein Paket gilt für diese Nachricht',
    cap_reached: 'eine Obergrenze hat zu wenig Platz',
    quota_exhausted: 'die Pakete dafür haben zu wenige Einheiten',
    destination_paused: 'ihr Ziel ist angehalten',
  },
  left: units =>
    units === null
      ? 'Danach könnten beliebig viele solche Einheiten gesendet werden.'
      : `Danach könnten noch ${values.units(units)} so gesendet werden.`,
  room: units => `${values.units(units)} könnten jetzt so gesendet werden.`,
  retryAt: at => <>Sie könnte ab {at} hinausgehen.</>,
  waitingDoesNotHelp: 'Warten hilft nicht.',
  nothingReserved: 'Dies war eine Prüfung: nichts wurde reserviert.',
  quotas: 'Was jedes Kontingent sagt',
  noQuotas: 'Es gibt keine Kontingente.',
  verdicts: {
    pays: units => `Bezahlt ${values.units(units)}`,
    counts: units => `Hat Platz und zählt ${formatUnits(units)}`,
    hasRoom: 'Hat Platz',
    blocks: 'Hält die Nachricht auf: zu wenig Platz',
    exhausted: 'Gilt für die Nachricht, hat aber nichts mehr',
    hasUnits: 'Gilt für die Nachricht und hat noch Einheiten',
    hasTooFewUnits: 'Gilt für die Nachricht, hat aber zu wenige Einheiten',
    notNeeded: 'Gilt für die Nachricht, wird aber nicht gebraucht',
    suspended: 'Zählt nicht: ausgesetzt',
    scheduled: 'Zählt nicht: hat noch nicht begonnen',
    no_value: 'Zählt nicht: zählt Empfänger, Länder oder Kennzeichen je für sich, und die Nachricht nennt keines',
    follows: at => <>Zählt noch nicht: folgt der angehobenen Obergrenze am {at}</>,
    expired: 'Zählt nicht: abgelaufen',
    expiredAt: at => <>Zählt nicht: abgelaufen am {at}</>,
    otherCountry: country => `Zählt nicht: gilt nicht für ${country}`,
    needsCountry: 'Zählt nicht: gilt für bestimmte Länder, und die Nachricht nennt keines',
    otherType: type => `Zählt nicht: gilt nicht für den Typ ${type}`,
    needsType: 'Zählt nicht: gilt für bestimmte Nachrichtentypen, und die Nachricht nennt keinen',
  },
}
