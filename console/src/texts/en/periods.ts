import type { Period } from '../../../../src/domain/time/period.ts'
import { byPeriod } from '../by-period.ts'

interface Words {
  noun: string
  adjective: string
  withArticle: string
  /** The window that is open now, and all from that on. */
  current: string
  currentAndLater: string
  /** When usage is set back to 0. */
  reset: (zone: string, start: string | null) => string
}

/** The words for each period, of which all texts about periods are made. */
const WORDS: Readonly<Record<Period, Words>> = {
  minute: {
    noun: 'minute',
    adjective: 'per-minute',
    withArticle: 'a per-minute',
    current: 'this minute',
    currentAndLater: 'now and in every later minute',
    reset: () => 'on the minute',
  },
  hour: {
    noun: 'hour',
    adjective: 'hourly',
    withArticle: 'an hourly',
    current: 'this hour',
    currentAndLater: 'now and in every later hour',
    reset: zone => `on the hour in ${zone}`,
  },
  day: {
    noun: 'day',
    adjective: 'daily',
    withArticle: 'a daily',
    current: 'today',
    currentAndLater: 'today and on every later day',
    reset: zone => `at 00:00 ${zone}`,
  },
  week: {
    noun: 'week',
    adjective: 'weekly',
    withArticle: 'a weekly',
    current: 'this week',
    currentAndLater: 'this week and in every later one',
    reset: zone => `on Monday at 00:00 ${zone}`,
  },
  month: {
    noun: 'month',
    adjective: 'monthly',
    withArticle: 'a monthly',
    current: 'this month',
    currentAndLater: 'this month and in every later one',
    reset: (zone, start) => `on ${start ?? 'the 1st'} at 00:00 ${zone}`,
  },
  year: {
    noun: 'year',
    adjective: 'yearly',
    withArticle: 'a yearly',
    current: 'this year',
    currentAndLater: 'this year and in every later one',
    reset: (zone, start) => `on ${start ?? '1 January'} at 00:00 ${zone}`,
  },
}

export const eachPeriod = <Text>(textOf: (words: Words) => Text) => byPeriod(WORDS, textOf)

/** The words for what a limit holds by itself, after it: 3 messages to one number. */
export const per = { recipient: ' to one number', country: ' to any one country', tag: ' for each tag' }
