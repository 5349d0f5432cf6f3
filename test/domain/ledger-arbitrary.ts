import fc from 'fast-check'
import type { Allowance } from '../../src/domain/quotas/quota.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand } from '../../src/domain/units/command.ts'
import { at, created } from './fixture.ts'

/** Some hours of one user: quotas, the commands on them, and the changes to them. */
export interface Scenario {
  quotas: Allowance[]
  steps: Step[]
}

export interface Step {
  now: EpochMs
  action: Command | { op: 'change'; quota_id: number; fields: Partial<Allowance> }
}

interface Traits {
  user_id?: number
  /** Whether commands are forced. */
  force?: boolean
  /** Whether administrators lower limits, even below usage. */
  lowering?: boolean
  /** Whether clocks lag behind each other by some minutes. */
  lag?: boolean
  /** Whether there are reservations, or consumptions only. */
  reserving?: boolean
}

const MINUTE = 60_000
export const BEGIN = at('2026-01-10 10:30')

/** Mostly null: quotas with narrow scopes are hardly ever drawn on. */
const sometimes = <T>(value: T) => fc.constantFrom(null, null, null, value)

export function scenarios({ user_id = 7, force = true, lowering = true, lag = false, reserving = true }: Traits = {}) {
  const actions: fc.Arbitrary<Step['action']>[] = [
    drawing(user_id, force, reserving),
    drawing(user_id, force, reserving),
    changing(lowering),
  ]
  const settles = settling(user_id, force)
  if (reserving) actions.push(settles, settles, settles, settles, reading(user_id))
  // Most steps follow soon after the previous one. Otherwise every hour would have a command.
  const later = fc.oneof({ weight: 3, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(70) })
  const step = fc.record({ later, behind: lag ? fc.nat(15) : fc.constant(0), action: fc.oneof(...actions) })
  return fc
    .record({
      quotas: fc.array(quota, { minLength: 1, maxLength: 4 }),
      steps: fc.array(step, { minLength: 1, maxLength: 24, size: 'max' }),
    })
    .map(({ quotas, steps }): Scenario => {
      let clock = BEGIN
      return {
        quotas: quotas.map((made, index) => ({ ...made, user_id, id: user_id * 10 + index })),
        steps: steps.map(({ later, behind, action }) => {
          clock += later * MINUTE
          const now = clock - behind * MINUTE
          if (action.op !== 'change') return { now, action }
          const fields = 'deleted_at' in action.fields ? { deleted_at: now } : action.fields
          return { now, action: { ...action, fields, quota_id: user_id * 10 + (action.quota_id % quotas.length) } }
        }),
      }
    })
}

const quota = fc
  .record({
    kind: fc.constantFrom('grant', 'grant', 'grant', 'cap'),
    limit: fc.option(fc.nat(5), { nil: null, freq: 9 }),
    hourly: fc.boolean(),
    rollover: fc.nat(3),
    overage: fc.constantFrom(0, 0, 1, 2),
    priority: fc.constantFrom(1, 1, 2),
    start: fc.constantFrom(-20, -20, -20, -20, -20, -100, 50, 90),
    lifetime: fc.option(fc.constantFrom(60, 110, 180), { nil: null, freq: 2 }),
    countries: sometimes(['DE']),
    message_types: sometimes(['otp']),
    enabled: fc.constantFrom(true, true, true, true, true, false),
  })
  .map(({ kind, limit, hourly, rollover, overage, start, lifetime, ...fields }) => {
    const isLimitedGrant = kind === 'grant' && limit !== null
    const starts_at = BEGIN + start * MINUTE
    const draft = {
      ...fields,
      kind: kind as 'grant' | 'cap',
      limit: kind === 'cap' ? (limit ?? 9) : limit,
      period: hourly ? ('hour' as const) : null,
      rollover_limit: isLimitedGrant && hourly ? rollover : 0,
      overage_limit: isLimitedGrant ? overage : 0,
      starts_at,
      expires_at: lifetime === null ? null : starts_at + lifetime * MINUTE,
    }
    // Scheduled quotas are created before the scenario begins.
    return created(draft, Math.min(starts_at, BEGIN))
  })

const id = fc.constantFrom('a', 'b', 'c')

export function drawing(userId: number, force: boolean, reserving = true): fc.Arbitrary<DrawCommand> {
  return (
    fc
      .record({
        op: fc.constantFrom('check', 'consume', ...(reserving ? (['reserve', 'reserve'] as const) : [])),
        user_id: fc.constant(userId),
        id: reserving ? id : fc.stringMatching(/^[a-z]{6}$/),
        units: fc.integer({ min: 1, max: 7 }),
        country: fc.constantFrom(null, null, 'DE', 'FR'),
        message_type: fc.constantFrom(null, null, 'otp', 'marketing'),
        ttl_ms: fc.integer({ min: 1, max: 90 }).map(minutes => minutes * MINUTE),
        on_expiry: fc.constantFrom('release', 'commit'),
        allow_partial: fc.boolean(),
        force: force ? fc.constantFrom(false, false, true) : fc.constant(false),
        explain: fc.boolean(),
      })
      // Only consumptions are forced, and a check has no id.
      .map(({ op, id, force, ...rest }) => {
        return { op, id: op === 'check' ? '' : id, force: force && op === 'consume', ...rest }
      })
  )
}

export function settling(userId: number, force: boolean): fc.Arbitrary<Command> {
  return fc
    .record({
      op: fc.constantFrom('commit', 'commit', 'release', 'refund', 'refund'),
      user_id: fc.constant(userId),
      id,
      total_units: fc.constantFrom(null, null, null, 0, 1, 1, 2, 2, 3, 4, 6),
      force: force ? fc.boolean() : fc.constant(false),
      verified: fc.constantFrom(false, false, true),
    })
    .map(({ verified, ...command }) => (command.op === 'commit' ? { ...command, verified } : command))
}

export function reading(userId: number): fc.Arbitrary<Command> {
  return fc.record({ op: fc.constantFrom('expire', 'find', 'feedback'), user_id: fc.constant(userId), id })
}

function changing(lowering: boolean): fc.Arbitrary<Step['action']> {
  const limits = lowering ? [{ limit: 0 }, { limit: 3 }, { limit: 6 }] : []
  return fc.record({
    op: fc.constant('change'),
    quota_id: fc.nat(3),
    fields: fc.constantFrom<Partial<Allowance>>(
      { enabled: false },
      { enabled: true },
      { priority: 0 },
      { countries: ['FR'] },
      { message_types: null },
      { deleted_at: BEGIN },
      ...limits,
    ),
  })
}
