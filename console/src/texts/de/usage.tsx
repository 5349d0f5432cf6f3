import { formatRate, formatUnits } from '../../formats.ts'
import type { usage as english } from '../en/usage.tsx'

const perDay = (rate: number) => {
  const text = formatRate(rate)
  return `${text} ${text === '1' ? 'Einheit' : 'Einheiten'} pro Tag`
}

export const usage: typeof english = {
  title: 'Verbrauch',
  unit: 'Einheiten',
  total: 'Summe',
  measures: {
    committed: { label: 'Bestätigt', about: 'Gesendet und berechnet', none: 'Nichts bestätigt in diesem Zeitraum' },
    refunded: {
      label: 'Erstattet',
      about: 'Nach dem Senden zurückgegeben',
      none: 'Nichts erstattet in diesem Zeitraum',
    },
    denied: { label: 'Abgelehnt', about: 'Angefragt und abgelehnt', none: 'Nichts abgelehnt in diesem Zeitraum' },
    unfunded: { label: 'Ungedeckt', about: 'Ohne Paket gesendet', none: 'Nichts ungedeckt in diesem Zeitraum' },
  },
  ownMeasures: {
    committed: { label: 'Berechnet', about: 'Gesendet', none: 'Nichts berechnet in diesem Zeitraum' },
    refunded: {
      label: 'Zurückgegeben',
      about: 'Nach dem Senden zurückgegeben',
      none: 'Nichts zurückgegeben in diesem Zeitraum',
    },
    denied: { label: 'Abgelehnt', about: 'Angefragt und abgelehnt', none: 'Nichts abgelehnt in diesem Zeitraum' },
    unfunded: { label: 'Nicht berechnet', about: 'Ohne Paket gesendet', none: 'Nichts ohne Paket in diesem Zeitraum' },
  },
  chooseMeasure: 'Was das Diagramm zeigt',
  messages: count => `${formatUnits(count)} ${count === 1 ? 'Nachricht' : 'Nachrichten'}`,
  entered: (messages, verified, group) =>
    group === null
      ? `Von ${formatUnits(messages)} Nachrichten wurden ${formatUnits(verified)} Codes eingegeben.`
      : `${group}: von ${formatUnits(messages)} Nachrichten wurden ${formatUnits(verified)} Codes eingegeben.`,
  deniedBy: 'Grund der Ablehnung:',
  reasons: {
    no_quota: units => `kein Kontingent für die Nachricht ${units}`,
    cap_reached: units => `eine Obergrenze ${units}`,
    quota_exhausted: units => `zu wenige Einheiten übrig ${units}`,
    destination_paused: units => `ein angehaltenes Ziel ${units}`,
  },
  ownReasons: {
    no_quota: units => `kein Paket für die Nachricht ${units}`,
    cap_reached: units => `eine Obergrenze ${units}`,
    quota_exhausted: units => `zu wenige Einheiten übrig ${units}`,
    destination_paused: units => `ein angehaltenes Ziel ${units}`,
  },
  period: 'Zeitraum',
  thisMonth: 'Dieser Monat',
  lastDays: days => `Letzte ${days} Tage`,
  customPeriod: 'Eigener',
  from: 'Von',
  to: 'Bis',
  groupBy: 'Gruppieren nach',
  noGroup: 'Nichts',
  groups: { country: 'Land', message_type: 'Nachrichtentyp', quota: 'Kontingent' },
  without: { country: 'Kein Land', message_type: 'Kein Typ', quota: 'Kein Paket' },
  ownWithout: { country: 'Kein Land', message_type: 'Kein Typ', quota: 'Kein Paket' },
  others: count => `${count} andere`,
  showTable: 'Als Tabelle zeigen',
  showChart: 'Als Diagramm zeigen',
  noReport: 'Kein Bericht für diesen Zeitraum',
  errors: {
    to: 'Bitte einen Tag wählen, der nicht vor „Von“ liegt.',
    interval: `Bitte höchstens ${formatUnits(1_000)} Tage wählen.`,
    group_by: 'Für so viele Tage sind es zu viele Gruppen. Bitte einen kürzeren Zeitraum wählen.',
  },
  correctFields: 'Bitte die Felder oben berichtigen.',
  approximate: day =>
    `Tage bis ${day} sind ungefähr: Verbrauch dieses Alters ist nach den Tagen einer anderen Zeitzone gespeichert.`,
  chart: measure =>
    `Einheiten nach Tag: ${measure}. Die Pfeiltasten wechseln zwischen den Tagen; oder „Als Tabelle zeigen“.`,
  table: 'Einheiten nach Tag',
  day: 'Tag',
  dailyRate: rate => `Verbrauch etwa ${perDay(rate)}`,
  forecast: rate => `Prognose: etwa ${perDay(rate)}`,
  days: zone =>
    `Tage der Zeitzone ${zone}. Ein Kontingent, das in einer anderen zurückgesetzt wird, zählt andere Tage.`,
  forecastDay: (units, band) =>
    `Etwa ${formatUnits(units)} Einheiten vorhergesagt${band === null ? '' : `, an den meisten Tagen ${formatUnits(band[0])} bis ${formatUnits(band[1])}`}`,
  cap: (limit, isOwn) => `${isOwn ? 'Grenze' : 'Obergrenze'}: ${formatUnits(limit)} Einheiten am Tag`,
  bar: {
    used: units => `${units} verbraucht`,
    reserved: units => `${units} reserviert`,
    overage: units => `${units} überzogen`,
    left: units => `${units} übrig`,
    unlimited: 'unbegrenzt',
  },
}
