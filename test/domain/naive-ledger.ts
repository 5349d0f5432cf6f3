import type { Command, DrawCommand, SettleCommand } from '../../src/domain/command.ts'
import type { Allowance } from '../../src/domain/quota.ts'
import { HOUR_MS } from '../../src/domain/time.ts'

/**
 * A second opinion on what is decided, as literal as can be: every unit of a reservation is a token that says what it
 * is and in which windows of which quotas it is counted. Nothing is summed up: whoever wants to know how full a window
 * is counts the tokens in it. It knows nothing of the code under test but the shape of quotas and commands.
 *
 * Its calendar is one hour after the other, or a single window; its clock never lags.
 */
export interface NaiveLedger {
  quotas: readonly Allowance[]
  bookings: Booking[]
  /** What each window got from the one before, noted as that one closed. */
  carries: Map<string, number>
}

interface Booking {
  asked: DrawCommand
  tokens: Token[]
  committed: number
  released: number
  refunded: number
  closes_at: number
  timedOut: boolean
}

interface Token {
  state: 'used' | 'reserved' | 'back'
  /** `quota:window`, or null for a unit that nobody pays for. */
  payer: string | null
  caps: string[]
}

/** More than any limit of a test: what can be drawn so far can be drawn without bound. */
const PLENTY = 41

export function openNaive(quotas: readonly Allowance[]): NaiveLedger {
  return { quotas, bookings: [], carries: new Map() }
}

export function cloneNaive({ quotas, bookings, carries }: NaiveLedger): NaiveLedger {
  const copies = bookings.map(booking => ({ ...booking, tokens: booking.tokens.map(token => ({ ...token })) }))
  return { quotas, bookings: copies, carries: new Map(carries) }
}

/** Carries out a command, and says in a line what came of it. */
export function naively(ledger: NaiveLedger, command: Command, now: number): string {
  noteCarries(ledger, command.user_id, now)
  const booking = ledger.bookings.find(({ asked }) => asked.user_id === command.user_id && asked.id === command.id)
  if (booking !== undefined) closeIfDue(booking, now)
  switch (command.op) {
    case 'check':
    case 'reserve':
    case 'consume':
      return booking === undefined ? answerDraw(ledger, command, now) : answerAgain(ledger, booking, command, now)
    case 'expire':
    case 'find':
      return booking === undefined ? 'not_found' : `found ${stateOf(booking)}`
    case 'commit':
    case 'release':
    case 'refund':
      return booking === undefined ? 'not_found' : settle(booking, command)
  }
}

/** As an administrator's change: what has closed until then has closed as the quota was. */
export function changeNaive(ledger: NaiveLedger, quotaId: number, fields: Partial<Allowance>, now: number): void {
  for (const { user_id } of ledger.quotas) noteCarries(ledger, user_id, now)
  ledger.quotas = ledger.quotas.map(quota => (quota.id === quotaId ? { ...quota, ...fields } : quota))
}

/** How many units a window of a quota holds. */
export function countIn(ledger: NaiveLedger, quotaId: number, windowNo: number): { used: number; reserved: number } {
  const place = `${quotaId}:${windowNo}`
  const counted = { used: 0, reserved: 0 }
  for (const { tokens } of ledger.bookings) {
    for (const { state, payer, caps } of tokens) {
      if (state !== 'back' && (payer === place || caps.includes(place))) counted[state] += 1
    }
  }
  return counted
}

export function carriedInto(ledger: NaiveLedger, quotaId: number, windowNo: number): number {
  return ledger.carries.get(`${quotaId}:${windowNo}`) ?? 0
}

/* ── Windows ────────────────────────────────────────────────────────────────────────────────────────────────────── */

function windowOf({ period, starts_at, expires_at, deleted_at }: Allowance, now: number): number {
  if (period === null) return 0
  const last = Math.min(now, (expires_at ?? Number.POSITIVE_INFINITY) - 1, deleted_at ?? Number.POSITIVE_INFINITY)
  return Math.max(0, Math.floor(last / HOUR_MS) - Math.floor(starts_at / HOUR_MS))
}

/** Window after window, as if somebody had been there when each of them closed. */
function noteCarries(ledger: NaiveLedger, userId: number, now: number): void {
  for (const quota of ledger.quotas.filter(({ user_id }) => user_id === userId)) {
    for (let window = 1; window <= windowOf(quota, now); window++) {
      const place = `${quota.id}:${window}`
      if (ledger.carries.has(place)) continue
      const left = Math.max(0, roomIn(ledger, quota, window - 1, false))
      ledger.carries.set(place, quota.limit === null ? 0 : Math.min(quota.rollover_limit, left))
    }
  }
}

/** Units left in a window, with or without overage; below zero if it is overdrawn. */
function roomIn(ledger: NaiveLedger, quota: Allowance, window: number, withOverage: boolean): number {
  if (quota.limit === null) return Number.POSITIVE_INFINITY
  const { used, reserved } = countIn(ledger, quota.id, window)
  const limit = quota.limit + carriedInto(ledger, quota.id, window) + (withOverage ? quota.overage_limit : 0)
  return limit - used - reserved
}

/* ── Drawing ────────────────────────────────────────────────────────────────────────────────────────────────────── */

function answerDraw(ledger: NaiveLedger, command: DrawCommand, now: number): string {
  const grants = matching(ledger, 'grant', command, now)
  const caps = matching(ledger, 'cap', command, now)
  const least = command.allow_partial ? 1 : command.units
  if (!command.force && !fits(ledger, command, least, now)) {
    const blocking = caps.filter(cap => roomIn(ledger, cap, windowOf(cap, now), true) < least)
    const reason = grants.length === 0 ? 'no_quota' : blocking.length > 0 ? 'cap_reached' : 'quota_exhausted'
    const limiting = blocking[0]?.id ?? grants.at(-1)?.id ?? null
    return `denied ${reason} limiting ${limiting} remaining ${remainingOf(ledger, command, now)}`
  }
  let units = command.units
  while (!command.force && !fits(ledger, command, units, now)) units -= 1
  const booking = book(ledger, command, units, now)
  const line = `granted ${stateOf(booking)} ${booking.tokens.map(({ payer, caps }) => [payer, ...caps].join(' ')).join(' ')}`
  if (command.op === 'check') ledger.bookings.pop()
  return `${line} remaining ${remainingOf(ledger, command, now)}`
}

function answerAgain(ledger: NaiveLedger, booking: Booking, command: DrawCommand, now: number): string {
  const names = ['units', 'op', 'country', 'message_type', 'allow_partial', 'force'] as const
  const differing = names.filter(name => booking.asked[name] !== command[name])
  if (differing.length > 0) return `mismatch ${differing}`
  if (booking.tokens.every(({ state }) => state === 'back')) return `closed ${stateOf(booking)}`
  return `again ${stateOf(booking)} remaining ${remainingOf(ledger, command, now)}`
}

/** Live quotas that match: grants in burn order, caps by id. */
function matching(ledger: NaiveLedger, kind: string, command: DrawCommand, now: number): Allowance[] {
  const quotas = ledger.quotas.filter(quota => {
    const { user_id, countries, message_types, enabled, starts_at, expires_at, deleted_at } = quota
    const lives = enabled && deleted_at === null && starts_at <= now && (expires_at === null || now < expires_at)
    const names = (listed: readonly string[] | null, named: string | null) => listed?.some(one => one === named) ?? true
    const matches = names(countries, command.country) && names(message_types, command.message_type)
    return quota.kind === kind && user_id === command.user_id && lives && matches
  })
  const lostAt = ({ period, expires_at }: Allowance) => {
    const windowEnd = period === null ? Number.POSITIVE_INFINITY : (Math.floor(now / HOUR_MS) + 1) * HOUR_MS
    return Math.min(windowEnd, expires_at ?? Number.POSITIVE_INFINITY)
  }
  const ranks = (quota: Allowance) => (kind === 'cap' ? [quota.id] : [quota.priority, lostAt(quota), quota.id])
  return quotas.sort((one, other) => {
    const differing = ranks(one).findIndex((rank, index) => rank !== ranks(other)[index])
    return differing < 0 ? 0 : (ranks(one)[differing] ?? 0) < (ranks(other)[differing] ?? 0) ? -1 : 1
  })
}

/** Tries it out: it fits if, with all tokens laid, no quota holds more than it may and every token has a payer. */
function fits(ledger: NaiveLedger, command: DrawCommand, units: number, now: number): boolean {
  const full = matching(ledger, 'cap', command, now).some(cap => roomIn(ledger, cap, windowOf(cap, now), true) < units)
  if (full) return false
  const { tokens } = book(ledger, { ...command, force: false }, units, now)
  ledger.bookings.pop()
  return tokens.every(({ payer }) => payer !== null)
}

function remainingOf(ledger: NaiveLedger, command: DrawCommand, now: number): number | null {
  let units = 0
  while (units < PLENTY && fits(ledger, command, units + 1, now)) units += 1
  return units === PLENTY ? null : units
}

/** Lays token after token, each on the first grant that has a unit left. */
function book(ledger: NaiveLedger, command: DrawCommand, units: number, now: number): Booking {
  const consumed = command.op === 'consume'
  const closes_at = consumed ? Number.POSITIVE_INFINITY : now + command.ttl_ms
  const booking: Booking = {
    asked: command,
    tokens: [],
    committed: 0,
    released: 0,
    refunded: 0,
    closes_at,
    timedOut: false,
  }
  if (consumed) booking.committed = units
  ledger.bookings.push(booking)
  const grants = matching(ledger, 'grant', command, now)
  const caps = matching(ledger, 'cap', command, now).map(cap => `${cap.id}:${windowOf(cap, now)}`)
  const has = (withOverage: boolean) => (grant: Allowance) =>
    roomIn(ledger, grant, windowOf(grant, now), withOverage) >= 1
  while (booking.tokens.length < units) {
    const last = command.force ? grants.at(-1) : undefined
    const grant = grants.find(has(false)) ?? grants.find(has(true)) ?? last
    const payer = grant === undefined ? null : `${grant.id}:${windowOf(grant, now)}`
    booking.tokens.push({ state: consumed ? 'used' : 'reserved', payer, caps })
  }
  return booking
}

/* ── Settling ───────────────────────────────────────────────────────────────────────────────────────────────────── */

function settle(booking: Booking, { op, total_units, force }: SettleCommand): string {
  const outstanding = booking.tokens.filter(({ state }) => state === 'reserved').length
  const done = { commit: booking.committed, release: booking.released, refund: booking.refunded }[op]
  const more = { commit: outstanding + (force ? booking.released : 0), release: outstanding }
  const possible = op === 'refund' ? booking.committed : done + more[op]
  const target = total_units ?? possible
  if (target > booking.tokens.length) return `exceeds ${stateOf(booking)}`
  if (target > possible) return `closed ${stateOf(booking)}`
  if (total_units === null && possible === 0) return `closed ${stateOf(booking)}`
  if (target <= done) return `replayed ${stateOf(booking)}`

  let left = outstanding
  for (let unit = done; unit < target; unit++) {
    if (op === 'refund') booking.refunded += 1
    if (op === 'release') booking.released += 1
    if (op === 'commit') booking.committed += 1
    if (op === 'commit' && left === 0) booking.released -= 1
    if (op !== 'refund' && left > 0) left -= 1
  }
  label(booking, left)
  return `settled ${stateOf(booking)}`
}

function closeIfDue(booking: Booking, now: number): void {
  const outstanding = booking.tokens.filter(({ state }) => state === 'reserved').length
  if (outstanding === 0 || now < booking.closes_at) return
  booking.timedOut = true
  if (booking.asked.on_expiry === 'commit') booking.committed += outstanding
  else booking.released += outstanding
  label(booking, 0)
}

/** In burn order the first committed − refunded units are used, the next outstanding ones reserved, the rest back. */
function label({ tokens, committed, refunded }: Booking, outstanding: number): void {
  tokens.forEach((token, index) => {
    token.state =
      index < committed - refunded ? 'used' : index < committed - refunded + outstanding ? 'reserved' : 'back'
  })
}

function stateOf({ tokens, committed, released, refunded, timedOut }: Booking): string {
  const counts = `${tokens.length} ${committed}/${released}/${refunded}`
  if (tokens.some(({ state }) => state === 'reserved')) return `reserved ${counts}`
  if (committed > 0) return `${refunded === committed ? 'refunded' : 'committed'} ${counts}`
  return `${timedOut ? 'expired' : 'released'} ${counts}`
}
