/**
 * Paused destinations during the chaos test: administrators pause some and lift the pauses, and the breaker pauses what is pumped.
 * Every process must obey within two seconds.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, openDatabase } from '../../../src/db/connection/database.ts'
import { sql } from '../../../src/db/connection/sql.ts'
import { PAUSE_COLUMNS } from '../../../src/db/pauses/pauses.ts'
import type { Pause } from '../../../src/domain/pauses/pause.ts'
import { DAY_MS } from '../../../src/domain/time/time.ts'
import { whenDone } from '../cleanup.ts'
import { createCaller, NO_USER } from './caller.ts'
import { createCommands } from './commands.ts'
import type { Deployment } from './deployment.ts'
import { CODE, createMessages, HONEST_USER, HOT_USER, PUMPED_COUNTRY, PUMPED_USER, USERS } from './messages.ts'
import type { Entry, KnownPause, RunRecord } from './record.ts'

const PAUSES = '/api/sms/admin/pauses'
/** As promised. */
const OBEYED_AFTER_MS = 2_000
/** The rest of the two seconds: processes read them once a second. */
const LONGEST_READ_MS = 1_000
const READ_EVERY_MS = 100
/** Fewer than the honest user has sent in an hour of the services' clocks, which takes three seconds. */
const BUDGETS = { hour: 8, flight: 12, day: 16 }

/** Starts to pause, to pump and to watch. */
export async function startPauses(deployment: Deployment, record: RunRecord, random: () => number) {
  const call = createCaller(deployment, record, random)
  const below = (bound: number) => Math.floor(random() * bound)
  const eyes = openDatabase({ url: deployment.url, maxConnections: 1 })
  whenDone(() => eyes.close())
  let keys = 0
  let isStopped = false

  const expectStatus = (what: string, { status, body }: { status: number; body: unknown }, expected: number) => {
    if (status !== expected) record.contradictions.push(`${what}: ${status} ${JSON.stringify(body)}`)
    return status === expected
  }

  async function administrator(): Promise<void> {
    while (!isStopped) {
      const user = random() < 0.3 ? null : random() < 0.5 ? HOT_USER : below(USERS)
      const country = random() < 0.5 ? 'DE' : 'FR'
      const types = random() < 0.3 ? ['otp'] : null
      keys += 1
      const body = { user_id: user, country, message_types: types }
      const whose = user ?? NO_USER
      const made = await call(whose, { method: 'POST', path: PAUSES, body, key: `chaos-pause-${keys}` })
      if (!expectStatus('pausing', made, 201)) return
      const { id } = made.body
      const never = Number.POSITIVE_INFINITY
      const known = { ...{ id, user, country, types }, madeAt: performance.now(), endedAt: never, liftedAt: never }
      record.pauses.push(known)
      await pause(OBEYED_AFTER_MS + 500 + below(2_000))
      known.endedAt = performance.now()
      expectStatus('lifting', await call(whose, { method: 'DELETE', path: `${PAUSES}/${id}` }), 204)
      known.liftedAt = performance.now()
      record.count('pauses lifted')
      await pause(below(1_000))
    }
  }

  /** Notes what the breaker pauses, and when even this could not read it. */
  async function watch(): Promise<void> {
    const seen = new Set<number>()
    let readAt = performance.now()
    let hasFailed = false
    while (!isStopped) {
      const rows = await readBreakerPauses(eyes).catch(() => undefined)
      const at = performance.now()
      hasFailed ||= rows === undefined
      if (rows !== undefined) {
        if (hasFailed || at - readAt > LONGEST_READ_MS) record.blind.push({ from: readAt, to: at })
        for (const row of rows.filter(({ id }) => !seen.has(id))) {
          seen.add(row.id)
          if (row.observed) continue
          record.pauses.push(knownOf(row, at, deployment))
          record.count('trips of the breaker')
        }
        hasFailed = false
        readAt = at
      }
      await pause(READ_EVERY_MS)
    }
  }

  const messages = createMessages(random)
  const commands = createCommands(deployment, record, random)

  async function sendCode(user: number, country: string): Promise<Entry> {
    const entry = messages.withCode(user, country)
    await commands.ask(entry, true)
    return entry
  }

  async function sendEnteredCode(user: number): Promise<void> {
    const entry = await sendCode(user, user === PUMPED_USER ? 'CA' : PUMPED_COUNTRY)
    await commands.feedback(entry)
    record.count('codes entered')
  }

  async function repeat(step: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!isStopped) {
      await step()
      await pause(everyMs)
    }
  }

  const settings = { mode: 'enforce', message_types: [CODE], budgets: BUDGETS }
  expectStatus(
    'the breaker',
    await call(NO_USER, { method: 'PUT', path: '/api/sms/admin/breaker', body: settings }),
    200,
  )
  // Of a user without feedback it would only observe.
  await sendEnteredCode(PUMPED_USER)
  // Its account is locked while the breaker pauses.
  record.changes.push({ user: PUMPED_USER, from: performance.now(), to: Number.POSITIVE_INFINITY })
  const pump = () => sendCode(PUMPED_USER, PUMPED_COUNTRY)
  const all = Promise.all([
    administrator(),
    watch(),
    ...[1, 2, 3].map(() => repeat(pump, 60)),
    ...[1, 2].map(() => repeat(() => sendEnteredCode(HONEST_USER), 60)),
    repeat(() => sendEnteredCode(PUMPED_USER), 500),
  ])
  all.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await all
    },
  }
}

/** All pauses of the breaker, also those that it only observed. */
const readBreakerPauses = (db: Database) =>
  db.query<Pause>({ text: sql`select ${PAUSE_COLUMNS} from pause where origin = 'breaker' order by id` })

function knownOf(
  { id, user_id, country, message_types, until }: Pause,
  madeAt: number,
  { when }: Deployment,
): KnownPause {
  const endedAt = until === null ? Number.POSITIVE_INFINITY : when(until)
  return { id, user: user_id, country, types: message_types, madeAt, endedAt, liftedAt: Number.POSITIVE_INFINITY }
}

type Covering = Pick<KnownPause, 'user' | 'country' | 'types'>

/** Whether a pause denies a message, unless it is forced. */
function covers({ user, country, types }: Covering, entry: Entry): boolean {
  const { country: to, message_type } = entry.body
  const isOfType = types === null || (message_type !== undefined && types.includes(message_type))
  return (user === null || user === entry.user) && country === to && isOfType
}

/** What was decided against a pause. All callers must have ended. */
export async function pauseFaults(record: RunRecord, db: Database): Promise<string[]> {
  const { pauses, entries, paused, blind } = record
  /** Whether a process might have known the pauses at `at` as they were two seconds before. */
  const mayLag = (at: number) => blind.some(({ from, to }) => from < at && at < to + OBEYED_AFTER_MS)
  const faults: string[] = []
  for (const known of pauses) {
    for (const entry of entries.values()) {
      if (entry.force || !covers(known, entry)) continue
      const isLater = known.madeAt + OBEYED_AFTER_MS < entry.begunAt && !mayLag(entry.begunAt)
      if (isLater && entry.shown !== undefined && entry.firstShownAt < known.endedAt)
        faults.push(`${entry.user} ${entry.id} was granted past ${JSON.stringify(known)}`)
    }
  }
  const rows = await db.query<Pause>({ text: sql`select ${PAUSE_COLUMNS} from pause` })
  const stored = new Map(
    rows.map(({ id, user_id: user, country, message_types: types }) => [id, { user, country, types }]),
  )
  const byId = new Map(pauses.map(known => [known.id, known]))
  for (const { entry, pause: id, begunAt } of paused) {
    const [row, known] = [stored.get(id), byId.get(id)]
    const name = `${entry.user} ${entry.id} was denied by ${JSON.stringify(row)}`
    if (row === undefined || !covers(row, entry)) faults.push(name)
    if (known === undefined) continue
    if (mayLag(begunAt)) continue
    if (known.liftedAt + OBEYED_AFTER_MS < begunAt) faults.push(`${name} after its lifting`)
    if (known.madeAt + OBEYED_AFTER_MS < begunAt) record.count('denied by a pause that all processes know')
  }
  return faults
}

/** What the breaker did besides what it is for: to pause the pumped destination, once at a time, and each time for longer. */
export async function breakerFaults(db: Database): Promise<string[]> {
  const rows = await readBreakerPauses(db)
  const faults: string[] = []
  const events = await db.query<{ id: number }>({
    text: sql`select (data -> 'pause' ->> 'id')::bigint as id from event where type = 'breaker.tripped' order by id`,
  })
  const [emitted, made] = [events, rows].map(some => some.map(({ id }) => id).join(' '))
  if (emitted !== made) faults.push(`it paused ${made}, and emitted ${emitted}`)
  let last = { created_at: 0, until: 0 }
  for (const { observed, lifted_at, ...row } of rows) {
    const { id, user_id, country, created_at, until } = row
    if (user_id !== PUMPED_USER || country !== PUMPED_COUNTRY || until === null) {
      faults.push(`it paused ${JSON.stringify(row)}`)
      continue
    }
    if (observed) continue
    if (lifted_at !== null || created_at < last.until) faults.push(`${id} begins before the pause before has ended`)
    const isAgain = created_at < last.until + DAY_MS
    const expected = isAgain ? Math.min(DAY_MS, 2 * (last.until - last.created_at)) : DAY_MS / 24
    if (until - created_at !== expected) faults.push(`${id} lasts for ${until - created_at} ms instead of ${expected}`)
    last = { created_at, until }
  }
  return faults
}
