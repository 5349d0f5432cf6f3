import type { Allowance } from '../../src/domain/quotas/quota.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand, SettleCommand } from '../../src/domain/units/command.ts'

/**
 * A naive model of the ledger, independent of the code under test except for the types of quotas and commands. Every
 * unit of a reservation is a token with its state and the windows that count it. There are no counters: the units of a
 * window are found by counting its tokens.
 *
 * Windows are hours, or a single window; the clock never lags.
 */
export interface NaiveLedger {
  quotas: readonly Allowance[]
  reservations: NaiveReservation[]
  /** Units that each window got from the previous one, recorded when that one closed. */
  carries: Map<string, number>
}

interface NaiveReservation {
  asked: DrawCommand
  tokens: Token[]
  committed: number
  released: number
  refunded: number
  expires_at: number
  expired: boolean
  verified: boolean
}

interface Token {
  state: 'used' | 'reserved' | 'returned'
  /** `quota:window`, or null for an unfunded unit. */
  payer: string | null
  caps: string[]
}

/** More than any limit of a test: a request that can draw this many units is unlimited. */
const MAX_UNITS = 41

export function openNaive(quotas: readonly Allowance[]): NaiveLedger {
  return { quotas, reservations: [], carries: new Map() }
}

export function cloneNaive({ quotas, reservations, carries }: NaiveLedger): NaiveLedger {
  const copies = reservations.map(reservation => ({
    ...reservation,
    tokens: reservation.tokens.map(token => ({ ...token })),
  }))
  return { quotas, reservations: copies, carries: new Map(carries) }
}

/** Carries out a command, and returns its outcome as one line. */
export function runNaive(ledger: NaiveLedger, command: Command, now: number): string {
  recordCarries(ledger, command.user_id, now)
  const reservation = ledger.reservations.find(
    ({ asked }) => asked.user_id === command.user_id && asked.id === command.id,
  )
  if (reservation !== undefined) expireIfDue(reservation, now)
  switch (command.op) {
    case 'check':
    case 'reserve':
    case 'consume':
      return reservation === undefined ? answerDraw(ledger, command, now) : replay(ledger, reservation, command, now)
    case 'expire':
    case 'find':
      return reservation === undefined ? 'not_found' : `found ${stateOf(reservation)}`
    case 'commit':
    case 'release':
    case 'refund':
      return reservation === undefined ? 'not_found' : settle(reservation, command)
    case 'feedback':
      return reservation === undefined ? 'not_found' : enter(reservation)
  }
}

/** Carries out an administrator's change. Windows before it closed with the quota's old fields. */
export function changeNaive(ledger: NaiveLedger, quotaId: number, fields: Partial<Allowance>, now: number): void {
  for (const { user_id } of ledger.quotas) recordCarries(ledger, user_id, now)
  ledger.quotas = ledger.quotas.map(quota => (quota.id === quotaId ? { ...quota, ...fields } : quota))
}

/** Counts the units in a window of a quota. */
export function countIn(ledger: NaiveLedger, quotaId: number, windowNo: number): { used: number; reserved: number } {
  const window = `${quotaId}:${windowNo}`
  const counted = { used: 0, reserved: 0 }
  for (const { tokens } of ledger.reservations) {
    for (const { state, payer, caps } of tokens) {
      if (state !== 'returned' && (payer === window || caps.includes(window))) counted[state] += 1
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

/** Records what each window carried, window by window. */
function recordCarries(ledger: NaiveLedger, userId: number, now: number): void {
  for (const quota of ledger.quotas.filter(({ user_id }) => user_id === userId)) {
    for (let window = 1; window <= windowOf(quota, now); window++) {
      const key = `${quota.id}:${window}`
      if (ledger.carries.has(key)) continue
      const left = Math.max(0, headroomIn(ledger, quota, window - 1, false))
      ledger.carries.set(key, quota.limit === null ? 0 : Math.min(quota.rollover_limit, left))
    }
  }
}

/** Units left in a window, with or without overage; negative if overdrawn. */
function headroomIn(ledger: NaiveLedger, quota: Allowance, window: number, withOverage: boolean): number {
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
    const blocking = caps.filter(cap => headroomIn(ledger, cap, windowOf(cap, now), true) < least)
    const reason = grants.length === 0 ? 'no_quota' : blocking.length > 0 ? 'cap_reached' : 'quota_exhausted'
    const limiting = blocking[0]?.id ?? grants.at(-1)?.id ?? null
    return `denied ${reason} limiting ${limiting} remaining ${remainingOf(ledger, command, now)}`
  }
  let units = command.units
  while (!command.force && !fits(ledger, command, units, now)) units -= 1
  const reservation = add(ledger, command, units, now)
  const line = `granted ${stateOf(reservation)} ${reservation.tokens.map(({ payer, caps }) => [payer, ...caps].join(' ')).join(' ')}`
  if (command.op === 'check') ledger.reservations.pop()
  return `${line} remaining ${remainingOf(ledger, command, now)}`
}

function replay(ledger: NaiveLedger, reservation: NaiveReservation, command: DrawCommand, now: number): string {
  const names = ['units', 'op', 'country', 'message_type', 'allow_partial', 'force'] as const
  const { op, force } = reservation.asked
  const isSent = op === 'consume' && force && !command.force
  const differing = names.filter(
    name => reservation.asked[name] !== command[name] && !(isSent && ['op', 'force'].includes(name)),
  )
  if (differing.length > 0) return `mismatch ${differing}`
  if (reservation.tokens.every(({ state }) => state === 'returned')) return `closed ${stateOf(reservation)}`
  return `again ${stateOf(reservation)} remaining ${remainingOf(ledger, command, now)}`
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
  const expiryOf = ({ period, expires_at }: Allowance) => {
    const windowEnd = period === null ? Number.POSITIVE_INFINITY : (Math.floor(now / HOUR_MS) + 1) * HOUR_MS
    return Math.min(windowEnd, expires_at ?? Number.POSITIVE_INFINITY)
  }
  const ranks = (quota: Allowance) => (kind === 'cap' ? [quota.id] : [quota.priority, expiryOf(quota), quota.id])
  return quotas.sort((one, other) => {
    const differing = ranks(one).findIndex((rank, index) => rank !== ranks(other)[index])
    return differing < 0 ? 0 : (ranks(one)[differing] ?? 0) < (ranks(other)[differing] ?? 0) ? -1 : 1
  })
}

/** Whether `units` can be granted: the caps have room, and a trial reservation has a payer for every token. */
function fits(ledger: NaiveLedger, command: DrawCommand, units: number, now: number): boolean {
  const full = matching(ledger, 'cap', command, now).some(
    cap => headroomIn(ledger, cap, windowOf(cap, now), true) < units,
  )
  if (full) return false
  const { tokens } = add(ledger, { ...command, force: false }, units, now)
  ledger.reservations.pop()
  return tokens.every(({ payer }) => payer !== null)
}

function remainingOf(ledger: NaiveLedger, command: DrawCommand, now: number): number | null {
  let units = 0
  while (units < MAX_UNITS && fits(ledger, command, units + 1, now)) units += 1
  return units === MAX_UNITS ? null : units
}

/** Adds a reservation token by token, each on the first grant that has a unit left. */
function add(ledger: NaiveLedger, command: DrawCommand, units: number, now: number): NaiveReservation {
  const consumed = command.op === 'consume'
  const expires_at = consumed ? Number.POSITIVE_INFINITY : now + command.ttl_ms
  const reservation: NaiveReservation = {
    asked: command,
    tokens: [],
    committed: 0,
    released: 0,
    refunded: 0,
    expires_at,
    expired: false,
    verified: false,
  }
  if (consumed) reservation.committed = units
  ledger.reservations.push(reservation)
  const grants = matching(ledger, 'grant', command, now)
  const caps = matching(ledger, 'cap', command, now).map(cap => `${cap.id}:${windowOf(cap, now)}`)
  const has = (withOverage: boolean) => (grant: Allowance) =>
    headroomIn(ledger, grant, windowOf(grant, now), withOverage) >= 1
  while (reservation.tokens.length < units) {
    const last = command.force ? grants.at(-1) : undefined
    const grant = grants.find(has(false)) ?? grants.find(has(true)) ?? last
    const payer = grant === undefined ? null : `${grant.id}:${windowOf(grant, now)}`
    reservation.tokens.push({ state: consumed ? 'used' : 'reserved', payer, caps })
  }
  return reservation
}

/* ── Settling ───────────────────────────────────────────────────────────────────────────────────────────────────── */

function enter(reservation: NaiveReservation): string {
  const word = reservation.verified ? 'replayed' : 'settled'
  reservation.verified = true
  return `${word} ${stateOf(reservation)}`
}

function settle(reservation: NaiveReservation, { op, total_units, force, verified }: SettleCommand): string {
  const outstanding = reservation.tokens.filter(({ state }) => state === 'reserved').length
  const isForced = op === 'commit' && force
  const used = reservation.tokens.filter(({ state }) => state === 'used').length
  const done = isForced
    ? used
    : { commit: reservation.committed, release: reservation.released, refund: reservation.refunded }[op]
  const possible = isForced ? reservation.tokens.length : op === 'refund' ? reservation.committed : done + outstanding
  const target = total_units ?? possible
  if (target > reservation.tokens.length)
    return isForced ? grow(reservation, target, verified) : `exceeds ${stateOf(reservation)}`
  if (target > possible || (total_units === null && possible === 0)) {
    const mayBecome = op === 'refund' && outstanding > 0 && target <= reservation.tokens.length - reservation.released
    return `${mayBecome ? 'uncommitted' : 'closed'} ${stateOf(reservation)}`
  }
  if (verified) reservation.verified = true
  if (target <= done) return `replayed ${stateOf(reservation)}`

  let left = outstanding
  for (let unit = done; unit < target; unit++) {
    if (op === 'refund') reservation.refunded += 1
    if (op === 'release') reservation.released += 1
    if (isForced && reservation.refunded > 0) {
      reservation.refunded -= 1
      continue
    }
    if (op === 'commit') reservation.committed += 1
    if (op === 'commit' && left === 0) reservation.released -= 1
    if (op !== 'refund' && left > 0) left -= 1
  }
  setStates(reservation, left)
  return `settled ${stateOf(reservation)}`
}

/** More units than were reserved, which are used like the last of those. */
function grow(reservation: NaiveReservation, units: number, verified = false): string {
  const [last] = reservation.tokens.slice(-1)
  if (last !== undefined) while (reservation.tokens.length < units) reservation.tokens.push({ ...last })
  Object.assign(reservation, { committed: units, released: 0, refunded: 0 })
  if (verified) reservation.verified = true
  setStates(reservation, 0)
  return `settled ${stateOf(reservation)}`
}

function expireIfDue(reservation: NaiveReservation, now: number): void {
  const outstanding = reservation.tokens.filter(({ state }) => state === 'reserved').length
  if (outstanding === 0 || now < reservation.expires_at) return
  reservation.expired = true
  if (reservation.asked.on_expiry === 'commit') reservation.committed += outstanding
  else reservation.released += outstanding
  setStates(reservation, 0)
}

/** The first (committed − refunded) units are used, the next outstanding ones reserved, the rest returned. */
function setStates({ tokens, committed, refunded }: NaiveReservation, outstanding: number): void {
  tokens.forEach((token, index) => {
    token.state =
      index < committed - refunded ? 'used' : index < committed - refunded + outstanding ? 'reserved' : 'returned'
  })
}

function stateOf({ tokens, committed, released, refunded, expired, verified }: NaiveReservation): string {
  const counts = `${tokens.length} ${committed}/${released}/${refunded}${verified ? ' verified' : ''}`
  if (tokens.some(({ state }) => state === 'reserved')) return `reserved ${counts}`
  if (committed > 0) return `${refunded === committed ? 'refunded' : 'committed'} ${counts}`
  return `${expired ? 'expired' : 'released'} ${counts}`
}
