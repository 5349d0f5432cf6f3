/** Answers that are no list: a record as a table of its fields, a decision, a report of usage. As JSON, too. */

import { Temporal } from 'temporal-polyfill'
import type { TopUsers, Usage } from '../../contract/usage.ts'
import type { Option } from '../arguments.ts'
import type { Terminal } from '../terminal.ts'
import { DENIED } from './failures.ts'
import type { Request } from './fields.ts'
import type { Call, Presentation } from './presentation.ts'
import { columns, neededColumns, recordOf, tableOf, USER } from './tables.ts'

/** A record with all its fields. */
export const record: Presentation = {
  async run(call) {
    await showRecord(call, await call.ask())
    return 0
  },
}

/** An operation that answers nothing. */
export function done(textOf: (call: Call) => string): Presentation {
  return {
    async run(call) {
      await call.ask()
      if (!call.args.has('json')) await call.terminal.print(`${textOf(call)}\n`)
      return 0
    },
  }
}

/** Whether a message may be sent. */
export const decision: Presentation = {
  async run(call) {
    const { granted, ...answer } = (await call.ask()) as { granted: boolean }
    if (call.args.has('json')) await call.printJson({ granted, ...answer })
    else await showRecord(call, { decision: granted ? 'granted' : 'denied', ...answer })
    return granted ? 0 : DENIED
  },
}

async function showRecord({ args, terminal, printJson }: Call, answer: unknown): Promise<void> {
  if (args.has('json')) await printJson(answer)
  else await terminal.print(recordOf(answer as object, terminal))
}

const QUARTER_MS = 15 * 60_000
const DAYS = 7

/** The options whose defaults are not those of the service. */
export const PERIOD_OPTIONS: Readonly<Record<string, Partial<Option>>> = {
  from: { means: 'inclusive, rounded down to a quarter of an hour; default six days ago at midnight' },
  to: { means: 'exclusive, rounded up to a quarter of an hour; default now' },
  interval: { means: 'one row per hour, day, week or month; default day' },
  'time-zone': { means: 'the IANA time zone in which days begin; default that of this machine' },
}

type Clock = Pick<Terminal, 'now' | 'timeZone'>

/** What a report of usage leaves out: the last seven days of the time zone, by the day. */
export function lastSevenDays(request: Request, clock: Clock): Request {
  const { time_zone: zone = clock.timeZone } = request
  return { interval: 'day', time_zone: zone, ...lastDays(request, clock, String(zone)) }
}

/** The period that a request leaves out: the last seven days, today included. */
export function lastDays(request: Request, { now, timeZone }: Clock, zone = timeZone): Request {
  const current = now()
  const to = new Date(Math.ceil(current / QUARTER_MS) * QUARTER_MS).toISOString()
  const from = Temporal.Instant.fromEpochMilliseconds(current)
    .toZonedDateTimeISO(zone)
    .subtract({ days: DAYS - 1 })
    .startOfDay()
    .toInstant()
    .toString()
  return { from, to, ...request }
}

type UsageRow = Usage['items'][number]

const units = (name: 'committed' | 'refunded' | 'unfunded' | 'denied') => ({
  title: name,
  value: (row: Pick<UsageRow, typeof name>) => row[name].units,
})

/** A column only where senders say which codes were entered. */
const verifiedIn = (rows: readonly Pick<UsageRow, 'verified_messages'>[]) =>
  rows.some(row => row.verified_messages > 0)
    ? [{ title: 'verified', value: (row: Pick<UsageRow, 'verified_messages'>) => row.verified_messages }]
    : []

/** A report of usage: a row for each interval, and the total. */
export const usage: Presentation = {
  async run(call) {
    const answer = (await call.ask()) as Usage
    if (call.args.has('json')) {
      await call.printJson(answer)
      return 0
    }
    const groups = (['user_id', 'quota_id', 'country', 'message_type', 'sender'] as const).filter(name =>
      answer.items.some(item => name in item),
    )
    const shown = columns<Partial<UsageRow> & Usage['total'] & { start: string }>(
      'start',
      ...groups,
      { title: 'messages', value: row => row.committed.messages },
      ...verifiedIn([answer.total]),
      units('committed'),
      units('refunded'),
      units('unfunded'),
      units('denied'),
    )
    const rows = [...answer.items, { start: 'total', ...answer.total }]
    await call.terminal.print(tableOf(rows, shown, call.terminal))
    sayWhatWasRead(answer, call)
    return 0
  },
}

function sayWhatWasRead({ from, to, rounded }: Pick<Usage, 'from' | 'to' | 'rounded'>, { terminal }: Call): void {
  if (rounded) terminal.complain(`Usage is kept by the quarter of an hour: this is from ${from} to ${to}.`)
}

/** The users who sent most. If some may be missing, it says how much each of them sent at most. */
export const topUsers: Presentation = {
  async run(call) {
    const answer = (await call.ask()) as TopUsers
    if (call.args.has('json')) {
      await call.printJson(answer)
      return 0
    }
    const shown = columns<TopUsers['items'][number]>(
      'user_id',
      USER,
      { title: 'messages', value: row => row.committed.messages },
      ...verifiedIn(answer.items),
      units('committed'),
      units('refunded'),
      units('unfunded'),
      units('denied'),
    )
    if (answer.items.length > 0)
      await call.terminal.print(tableOf(answer.items, neededColumns(shown, answer.items), call.terminal))
    sayWhatWasRead(answer, call)
    const { complete, unlisted_up_to: most } = answer
    if (most > 0)
      call.terminal.complain(
        `${complete ? 'There are more users' : 'Some users who belong here can be missing'}: each committed ${most} units at most.`,
      )
    else if (answer.items.length === 0) call.terminal.complain('There are no rows.')
    return 0
  },
}
