/**
 * The breaker before a quarter of a million days of honest traffic, and before attacks. Writes docs/reference/breaker.md with `-u`. `BREAKER_TIMES`
 * multiplies the honest traffic.
 */
import { expect, test } from 'vitest'
import { type Budgets, DEFAULT_BUDGETS } from '../../src/domain/pauses/breaker.ts'
import {
  ATTACKS,
  type Attack,
  type AttackResult,
  BASES,
  comparePaused,
  HONEST,
  type HonestResult,
  type HonestTraffic,
  OUTAGES,
  runAttack,
  runHonest,
  UNDELIVERED,
  UNUSUAL,
  victims,
} from './breaker-table.ts'

const TIMES = 10 * Number(process.env.BREAKER_TIMES ?? 1)
const UNUSUAL_TIMES = 5
const ATTACKS_EACH = 50
/** Beside 1,000 honest codes a day, where an attack takes ten times as long. */
const LARGE_ATTACKS_EACH = 15
const SMALL = victims(10, ATTACKS_EACH, 3)

/** Those of a formula that was published for one product, looser ones, those that are the default, and still looser ones. */
const COMPARED = [
  { day: 20, hour: 3, flight: 25, share: 0.2 },
  { day: 30, hour: 8, flight: 25, share: 0.3 },
  DEFAULT_BUDGETS,
  { day: 60, hour: 20, flight: 40, share: 0.3 },
]

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 })
const percent = (part: number) => `${number(100 * part)} %`
const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (heads: readonly string[], rows: readonly string[]) =>
  [row(...heads), row(...heads.map(() => '---')), ...rows].join('\n')

const perTenThousand = (results: readonly HonestResult[]) =>
  (10_000 * sumOf(results, 'pausedDays')) / sumOf(results, 'destinationDays')

const honestRow = ({ name }: HonestTraffic, result: HonestResult) => {
  const { destinationDays, codes, pausedDays, stopped, replayedDays } = result
  return row(name, ...[destinationDays, codes, pausedDays, perTenThousand([result]), stopped, replayedDays].map(number))
}

function attackRow({ name }: Attack, base: number, result: AttackResult): string {
  const { caught, attacks, before, hours, stopped, honestStopped, replayed } = result
  const first = caught === 0 ? ['–', '–', '–'] : [before.median, before.most, hours].map(number)
  return row(
    name,
    number(base),
    percent(caught / attacks),
    ...first,
    percent(stopped),
    number(honestStopped),
    percent(replayed),
  )
}

/** Outages, and what either way pauses and stops. As sent, it is the same for any time of the refund. */
function outageRows(outage: readonly HonestTraffic[]): string[] {
  const [asSent] = outage.slice(0, 1).map(traffic => runHonest({ ...traffic, countsReturned: true }, UNUSUAL_TIMES, 2))
  return outage.map(traffic => {
    const ways = [asSent ?? expect.unreachable(), runHonest(traffic, UNUSUAL_TIMES, 2)]
    const outages = traffic.destinations * UNUSUAL_TIMES
    return row(
      traffic.name,
      ...[outages, ...ways.flatMap(way => [way.pausedDays, way.stopped, way.replayedDays])].map(number),
    )
  })
}

function undeliveredRow(attack: Attack): string {
  const ways = [true, false].map(countsReturned => runAttack({ ...attack, countsReturned }, SMALL))
  return row(
    attack.name,
    ...ways.flatMap(({ caught, attacks, before, delivered, hours }) => [
      percent(caught / attacks),
      ...[before.median, delivered, hours].map(number),
    ]),
  )
}

const attackNamed = (name: string) => ATTACKS.find(attack => attack.name === name) ?? expect.unreachable()

function budgetsRow(budgets: Budgets, pausedDays: number): string {
  const [burst, numbers, trickle] = ['a burst of 60 a minute', '30 an hour', 'a trickle of 5 an hour'].map(name =>
    runAttack(attackNamed(name), SMALL, budgets),
  )
  return row(
    ...[budgets.day, budgets.hour, budgets.flight, budgets.share].map(number),
    number(pausedDays),
    ...[burst?.before.median, numbers?.before.median, trickle?.hours].map(value => number(value ?? Number.NaN)),
  )
}

const sumOf = (results: readonly HonestResult[], of: keyof HonestResult) =>
  results.reduce((sum, result) => sum + result[of], 0)

test('honest traffic of all sizes together is paused on at most one of 10,000 days, a burst before its 40th message, and a trickle within ten hours', async () => {
  const honest = HONEST.map(traffic => ({ traffic, result: runHonest(traffic, TIMES, 1) }))
  const results = honest.map(({ result }) => result)
  expect(perTenThousand(results)).toBeLessThanOrEqual(1)

  const attacks = BASES.flatMap(base => {
    const attacked = victims(base, base < 1_000 ? ATTACKS_EACH : LARGE_ATTACKS_EACH, 3)
    return ATTACKS.map(attack => ({ attack, base, result: runAttack(attack, attacked) }))
  })
  for (const { attack, base, result } of attacks) {
    if (base > 100) continue
    if (/^a burst of \d+ a minute$|^numbers in sequence/.test(attack.name)) {
      expect(result.before.median).toBeLessThan(40)
    }
    if (attack.name === 'a trickle of 5 an hour' && base <= 10) expect(result.hours).toBeLessThan(10)
  }

  const page = `# The breaker on made-up traffic

Generated by \`npm test -- test/domain/breaker.long.test.ts -u\`. Do not edit.

These are the rules alone (\`src/domain/pauses/breaker.ts\`). The job judges an hour once a minute, and a day once in a quarter of an hour. \`sms-quota breaker replay\` applies the rules to the past.

Codes to one country for one user, 28 days from the first one on, with busy and quiet hours of a day, 85–95 % entered, most within two minutes, people who ask
up to three times, and on one day of twenty an hour with four to eight times the load. The breaker judges every 15 seconds with the
budgets \`day\` ${DEFAULT_BUDGETS.day}, \`hour\` ${DEFAULT_BUDGETS.hour}, \`flight\` ${DEFAULT_BUDGETS.flight} and \`share\` ${DEFAULT_BUDGETS.share}, and a pause holds two seconds later.

## Honest traffic

*Paused days* are days on which the destination is paused for some time; *stopped* are codes that would have been entered. A replay judges
quarters of an hour, as usage keeps them. The goal, one of 10,000 days, is tested for all sizes together, and most of these days have few codes: look
at the row of your size.

${table(
  ['traffic', 'days', 'codes', 'paused days', 'of 10,000', 'stopped', 'paused days of a replay'],
  honest.map(({ traffic, result }) => honestRow(traffic, result)),
)}

What looks like an attack, or has another share of entered codes:

${table(
  ['traffic', 'days', 'codes', 'paused days', 'of 10,000', 'stopped', 'paused days of a replay'],
  UNUSUAL.map(traffic => honestRow(traffic, runHonest(traffic, UNUSUAL_TIMES, 2))),
)}

## Attacks

${ATTACKS_EACH} of each, ${LARGE_ATTACKS_EACH} where there are 1,000 honest codes a day. *Before* is how many pumped codes leave before the first pause, in all countries. A replay
sees an attack at the end of a quarter of an hour, and stops less.

${table(
  [
    'attack',
    'honest a day',
    'caught',
    'before, median',
    'before, most',
    'hours',
    'stopped',
    'honest stopped',
    'stopped by a replay',
  ],
  ATTACKS.flatMap(one =>
    attacks.flatMap(({ attack, base, result }) => (attack === one ? [attackRow(attack, base, result)] : [])),
  ),
)}

## Messages that came back

What is refunded as a whole came back, and does not count as sent, in the minute in which it was. Beside it, what the breaker did when such messages counted as
sent. *Outages*: of a carrier, in which no code arrives, each on one day of a destination.

${table(
  [
    'outage',
    'outages',
    'as sent: paused days',
    'stopped',
    'of a replay',
    'as not sent: paused days',
    'stopped',
    'of a replay',
  ],
  OUTAGES.flatMap(outageRows),
)}

An attack of which a part goes to numbers that are not in service leaves more messages before it is paused; of those that are delivered, by which it earns, about as many as
the budget of a day. Beside 10 honest codes a day, ${ATTACKS_EACH} of each, medians:

${table(
  [
    'attack',
    'as sent: caught',
    'before',
    'of them delivered',
    'hours',
    'as not sent: caught',
    'before',
    'of them delivered',
    'hours',
  ],
  UNDELIVERED.map(undeliveredRow),
)}

## Other budgets

${table(
  [
    'day',
    'hour',
    'flight',
    'share',
    'honest, paused of 10,000 days',
    '60 a minute: before',
    '30 an hour: before',
    '5 an hour: hours',
  ],
  comparePaused(COMPARED, 2, 1).map((pausedDays, index) =>
    budgetsRow(COMPARED[index] ?? expect.unreachable(), pausedDays),
  ),
)}
`
  await expect(page).toMatchFileSnapshot('../../docs/reference/breaker.md')
}, 3_600_000)
