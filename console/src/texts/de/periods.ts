import type { Period } from '../../../../src/domain/time/period.ts'
import { byPeriod } from '../by-period.ts'

interface Words {
  each: string
  per: string
  /** The adjective is this with an “e”. */
  adverb: string
  /** The window that is open now, in the accusative and as a time; and all from that on. */
  currentAsObject: string
  current: string
  currentAndLater: string
  /** When usage is set back to 0. */
  reset: (zone: string, start: string | null) => string
}

const WORDS: Readonly<Record<Period, Words>> = {
  minute: {
    each: 'jede Minute',
    per: 'pro Minute',
    adverb: 'minütlich',
    currentAsObject: 'diese Minute',
    current: 'in dieser Minute',
    currentAndLater: 'jetzt und in jeder späteren Minute',
    reset: () => 'zu jeder vollen Minute',
  },
  hour: {
    each: 'jede Stunde',
    per: 'pro Stunde',
    adverb: 'stündlich',
    currentAsObject: 'diese Stunde',
    current: 'in dieser Stunde',
    currentAndLater: 'jetzt und in jeder späteren Stunde',
    reset: zone => `zu jeder vollen Stunde in ${zone}`,
  },
  day: {
    each: 'jeden Tag',
    per: 'pro Tag',
    adverb: 'täglich',
    currentAsObject: 'heute',
    current: 'heute',
    currentAndLater: 'heute und an jedem späteren Tag',
    reset: zone => `um 00:00 Uhr ${zone}`,
  },
  week: {
    each: 'jede Woche',
    per: 'pro Woche',
    adverb: 'wöchentlich',
    currentAsObject: 'diese Woche',
    current: 'in dieser Woche',
    currentAndLater: 'in dieser Woche und in jeder späteren',
    reset: zone => `am Montag um 00:00 Uhr ${zone}`,
  },
  month: {
    each: 'jeden Monat',
    per: 'pro Monat',
    adverb: 'monatlich',
    currentAsObject: 'diesen Monat',
    current: 'in diesem Monat',
    currentAndLater: 'in diesem Monat und in jedem späteren',
    reset: (zone, start) => `am ${start ?? '1.'} um 00:00 Uhr ${zone}`,
  },
  year: {
    each: 'jedes Jahr',
    per: 'pro Jahr',
    adverb: 'jährlich',
    currentAsObject: 'dieses Jahr',
    current: 'in diesem Jahr',
    currentAndLater: 'in diesem Jahr und in jedem späteren',
    reset: (zone, start) => `am ${start ?? '1. Januar'} um 00:00 Uhr ${zone}`,
  },
}

export const eachPeriod = <Text>(textOf: (words: Words) => Text) => byPeriod(WORDS, textOf)

/** The words for what a limit holds by itself, after it: 3 messages to one number. */
export const per = { recipient: ' an dieselbe Nummer', country: ' in dasselbe Land', tag: ' für jedes Kennzeichen' }
