/**
 * Records each call that may have reached a service as lines that the referee reads: one for each operation, in the order of their
 * ends. Nothing is left out and nothing is changed afterwards. `test/referee/README.md` says what is checked.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Answer, Deployment, SeenCall } from './deployment.ts'

type Json = ReturnType<typeof JSON.parse>

/** An operation of one client. `returned` is null if it has no answer that says what happened. Times are microseconds since the start. */
interface OperationLine {
  readonly kind: 'operation'
  readonly process: string
  readonly service: 'a' | 'b'
  readonly user: number | null
  readonly operation: string
  readonly arguments: Json
  /** The Idempotency-Key. */
  readonly key?: string
  readonly batch?: number
  readonly index?: number
  readonly invoked: number
  readonly returned: number | null
  readonly outcome: 'ok' | 'denied' | 'refused' | 'unknown'
  readonly reason?: string
  readonly code?: string
  readonly answer: Json
}

interface FaultLine {
  readonly kind: 'fault'
  readonly fault: string
  readonly service?: 'a' | 'b'
  readonly at: number
  readonly until: number | null
  readonly by_ms?: number
}

/** The client whose calls are not recorded: they change nothing. */
export const UNRECORDED = 'unrecorded'

export interface History {
  /** Calls until here set up what the senders find. The clock of the services then stepped by `steppedMs`. */
  begin(steppedMs?: number): void
  /** A call that the deployment has not seen: a network has delivered one a second time. */
  see(call: SeenCall): void
  /** Microseconds since the start. */
  now(): number
  fault(fault: string, at: number, more?: Partial<FaultLine>): void
  /** All operations after the set-up. */
  readonly operations: readonly OperationLine[]
  /** Writes the file. `rows` are the operations that read the end. */
  write(path: string, rows: readonly OperationLine[]): void
  /** What is recorded during `work`, which is then no part of the operations. */
  apart(work: () => Promise<void>): Promise<OperationLine[]>
}

interface HistoryOptions {
  readonly seed: number
  /** What the clock of the services showed at `startedAt` of `performance.now()`, in milliseconds since 1970. */
  readonly epochMs: number
  readonly startedAt: number
  /** How far a service's reading of that clock may be off. */
  readonly uncertaintyMs: number
  /** How much faster than real time that clock runs. */
  readonly speed?: number
}

const SENDER = '/api/sms/sender/quota/'

type Route = readonly [method: string, path: RegExp, operation: string, parts: readonly string[]]

const ROUTES: readonly Route[] = [
  ['GET', /^\/api\/sms\/sender\/quota\/reservations\/(\d+)\/([^/]+)$/, 'find_reservation', ['user_id', 'id']],
  ['POST', /^\/api\/sms\/admin\/quota$/, 'create_quota', []],
  ['PUT', /^\/api\/sms\/admin\/quota\/(\d+)$/, 'change_quota', ['id']],
  ['DELETE', /^\/api\/sms\/admin\/quota\/(\d+)$/, 'delete_quota', ['id']],
  ['POST', /^\/api\/sms\/admin\/quota\/(\d+)\/adjust$/, 'adjust_quota', ['id']],
  ['POST', /^\/api\/sms\/admin\/quota\/(\d+)\/transfer$/, 'transfer', ['id']],
  ['POST', /^\/api\/sms\/admin\/transfers\/(\d+)\/return$/, 'return_transfer', ['id']],
  ['GET', /^\/api\/sms\/admin\/quota\/list$/, 'list_quotas', []],
  ['GET', /^\/api\/sms\/admin\/quota\/reservations$/, 'list_reservations', []],
  ['PUT', /^\/api\/sms\/admin\/users\/(\d+)\/plan$/, 'give_plan', ['user_id']],
  ['DELETE', /^\/api\/sms\/admin\/users\/(\d+)\/plan$/, 'take_plan', ['user_id']],
  ['DELETE', /^\/api\/sms\/admin\/users\/(\d+)\/data$/, 'erase_user', ['user_id']],
  ['POST', /^\/api\/sms\/admin\/pauses$/, 'create_pause', []],
  ['DELETE', /^\/api\/sms\/admin\/pauses\/(\d+)$/, 'end_pause', ['id']],
  ['POST', /^\/api\/sms\/admin\/plans$/, 'create_plan', []],
  ['PUT', /^\/api\/sms\/admin\/plans\/(\d+)$/, 'change_plan', ['id']],
]

/** What a call asks, apart from batches. */
function namesOf({ method, path, body }: SeenCall): { operation: string; args: Json } {
  const { pathname, searchParams } = new URL(path, 'http://service')
  if (pathname.startsWith(SENDER) && method === 'POST')
    return { operation: pathname.slice(SENDER.length), args: { ...body } }
  for (const [itsMethod, pattern, operation, names] of ROUTES) {
    const found = itsMethod === method ? pattern.exec(pathname) : null
    if (found === null) continue
    const parts = names.map((name, n) => [
      name,
      Number.isNaN(Number(found[n + 1])) ? found[n + 1] : Number(found[n + 1]),
    ])
    const query = [...searchParams].map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value])
    const args = { ...Object.fromEntries([...query, ...parts]), ...body }
    return { operation: operation === 'change_plan' && 'is_default' in args ? 'put_default_plan' : operation, args }
  }
  return { operation: `${method} ${pathname}`, args: { ...body } }
}

/** `unavailable` leaves open what happened; `overloaded` does not. */
function outcomeOf(answer: Answer | undefined): Pick<OperationLine, 'outcome' | 'reason' | 'code' | 'answer'> {
  if (answer === undefined) return { outcome: 'unknown', answer: null }
  const { status, body = null } = answer
  if (status >= 500 && body?.code !== 'overloaded') return { outcome: 'unknown', answer: body }
  if (status >= 400) return { outcome: 'refused', code: body.code, answer: body }
  if (body?.granted === false) return { outcome: 'denied', reason: body.reason, answer: body }
  return { outcome: 'ok', answer: body }
}

/** Records all calls of a deployment from now on. */
export function createHistory(deployment: Pick<Deployment, 'watch'>, options: HistoryOptions): History {
  const { seed, epochMs, startedAt, uncertaintyMs, speed = 1 } = options
  const setUp: OperationLine[] = []
  const operations: OperationLine[] = []
  const lines: object[] = []
  const owners = new Map<number, number>()
  let isBegun = false
  let steppedMs = 0
  let apart: OperationLine[] | undefined
  let batches = 0
  const timeOf = (at: number) => Math.round((at - startedAt) * 1_000 * speed)
  const free = createNames()

  function record(call: SeenCall, operation: string, args: Json, answer: Answer | undefined, more: object): void {
    const outcome = outcomeOf(answer)
    learnOwners(owners, operation, args, outcome.answer)
    const user = args.user_id ?? (/_quota$|^transfer$/.test(operation) ? owners.get(args.id) : undefined) ?? null
    if (operation === 'transfer') Object.assign(args, { from_user_id: user })
    const line: OperationLine = {
      kind: 'operation',
      process: call.client ?? free.nameFor(call),
      service: call.service === 0 ? 'a' : 'b',
      ...{ user, operation, arguments: args },
      ...(call.key === undefined ? {} : { key: call.key }),
      ...more,
      invoked: timeOf(call.invoked),
      returned: outcome.outcome === 'unknown' ? null : timeOf(call.returned),
      ...outcome,
    }
    if (apart !== undefined) apart.push(line)
    else if (isBegun) {
      operations.push(line)
      lines.push(line)
    } else setUp.push(line)
  }

  function see(call: SeenCall): void {
    if (call.client === UNRECORDED || !call.path.startsWith('/api/')) return
    if (!call.path.startsWith(`${SENDER}batch`)) {
      const { operation, args } = namesOf(call)
      record(call, operation, args, call.answer, {})
      return
    }
    const batch = batches++
    const { operations: asked }: { operations: { op: string }[] } = { operations: [], ...call.body }
    for (const [index, { op, ...args }] of asked.entries()) {
      const answer = call.answer?.status === 200 ? call.answer.body.results[index] : call.answer
      record(call, op, args, answer, { batch, index })
    }
  }
  deployment.watch(see)

  return {
    operations,
    see,
    begin(ms = 0) {
      isBegun = true
      steppedMs = ms
    },
    now: () => timeOf(performance.now()),
    fault: (fault, at, more = {}) => void lines.push({ kind: 'fault', fault, at, until: null, ...more }),

    async apart(work) {
      const found: OperationLine[] = []
      apart = found
      await work().finally(() => {
        apart = undefined
      })
      return found
    },

    write(path, rows) {
      const before = (time: number | null) => (time === null ? null : time - steppedMs * 1_000)
      const header = {
        ...{ kind: 'run', seed, epoch_ms: epochMs + steppedMs, clock_uncertainty_ms: uncertaintyMs },
        set_up: setUp.map(line => ({ ...line, invoked: before(line.invoked), returned: before(line.returned) })),
      }
      const end = { kind: 'end', at: timeOf(performance.now()), rows }
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, [header, ...lines, end].map(line => `${JSON.stringify(line)}\n`).join(''))
    },
  }
}

/** Notes whose the quotas of an answer are: later calls name them by id alone. */
function learnOwners(owners: Map<number, number>, operation: string, args: Json, answer: Json): void {
  if (operation === 'create_quota' && answer?.id !== undefined) owners.set(answer.id, answer.user_id)
  if (operation === 'list_quotas') for (const { id, user_id } of answer?.items ?? []) owners.set(id, user_id)
  if (operation === 'transfer' && answer?.transfer?.to_quota_id != null)
    owners.set(answer.transfer.to_quota_id, args.to_user_id)
  for (const { quota_id } of answer?.draws ?? []) if (args.user_id !== undefined) owners.set(quota_id, args.user_id)
}

/** Names for clients that have none: one that has answered its last call is free for the next. */
function createNames() {
  const busyUntil: number[] = []
  return {
    nameFor({ invoked, returned }: SeenCall): string {
      const found = busyUntil.findIndex(until => until <= invoked)
      const index = found === -1 ? busyUntil.length : found
      busyUntil[index] = returned
      return `client-${index}`
    },
  }
}
