/**
 * Calls every operation of the service's own OpenAPI document with valid, nearly valid and wild input, as every kind of caller,
 * and judges each answer. All that it chooses comes from the seed, and no call begins before the last one is answered: the same
 * seed makes the same calls again.
 */
import type { AddressInfo } from 'node:net'
import { cpus } from 'node:os'
import type { Receiver } from '../receiver.ts'
import type { Service } from '../service.ts'
import { type Body, type Call, describe } from './calls.ts'
import { type ApiDocument, type Operation, readDocument, type Schema } from './document.ts'
import type { Json } from './json.ts'
import { CALLERS, createJudge, type Fault, type Judge } from './judge.ts'
import { createKnowledge, type Knowledge } from './knowledge.ts'
import { mutate } from './mutations.ts'
import { type Random, randomOf } from './random.ts'
import { shrink } from './shrink.ts'
import { createStateReader, differenceOf } from './state.ts'
import { createValues, type Values } from './values.ts'
import { type Answered, openWire, type Wire } from './wire.ts'

export interface Found extends Fault {
  /** The number of the call, from 1. */
  number: number
  call: Call
}

export interface Outcome {
  calls: number
  /** Of each operation, how often it was answered with which class of status, such as `2xx`. */
  answers: Map<string, Map<string, number>>
  found: Found | null
}

export interface FuzzOptions {
  seed: number
  calls: number
}

/** What a call may take, in milliseconds. */
const MAX_MS = 250
/** What a plain call takes of work at most on a machine that is not held up: a few times as much as usual. */
const MAX_PLAIN_MS = 5
/** After this many calls the machine was slow for minutes, and nothing can be said. */
const MAX_MEASURED = 200

/** After how many calls time passes. */
const CALLS_PER_STEP = 50

/** How often an operation is called with what should be accepted, before anything else, until it is. */
const TRIES = 200

/** These need an SMTP server, or links that it has sent. */
export const NEVER_ACCEPTED: ReadonlySet<string> = new Set([
  'setNotifications',
  'confirmNotifications',
  'stopNotificationsByLink',
])

export async function fuzz(service: Service, hook: Receiver, { seed, calls }: FuzzOptions): Promise<Outcome> {
  const run = await openRun(service, hook, randomOf(seed))
  const outcome: Outcome = { calls: 0, answers: run.answers, found: null }
  try {
    await run.begin()
    while (outcome.calls < calls) {
      outcome.calls += 1
      const call = run.next()
      const fault = await run.judge(call)
      if (fault !== null) {
        return { ...outcome, found: { ...fault, number: outcome.calls, call: await run.smallest(call, fault) } }
      }
      if (outcome.calls % CALLS_PER_STEP === 0) await run.goOn()
    }
    return outcome
  } finally {
    run.close()
  }
}

/** A report for people: the fault, the call, and how to see it again. */
export function reportOf(seed: number, { number, rule, detail, call }: Found): string {
  const shown = detail.length <= 2_000 ? detail : `${detail.slice(0, 2_000)}…`
  return [
    `call ${number} of seed ${seed}: ${rule}`,
    shown,
    '',
    describe(call),
    '',
    `Again: npm run fuzz -- --seed ${seed}`,
  ].join('\n')
}

async function openRun(service: Service, hook: Receiver, random: Random): Promise<Run> {
  const document = service.app.swagger()
  const { port } = service.app.server.address() === null ? await listen(service) : addressOf(service)
  const api = readDocument(document)
  const known = createKnowledge(random)
  const tokens = new Map<string, string | null>()
  for (const [name, roles] of Object.entries(CALLERS)) tokens.set(name, await tokenOf(service, name, roles))
  return new Run({
    service,
    random,
    api,
    known,
    judge: createJudge(document, api),
    values: createValues(api, random, known, hook.url),
    wire: openWire(port, tokens),
    readState: await createStateReader(service.db),
  })
}

async function listen(service: Service): Promise<AddressInfo> {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  return addressOf(service)
}

const addressOf = ({ app }: Service) => app.server.address() as AddressInfo

function tokenOf(service: Service, name: string, roles: readonly string[]): Promise<string> | string | null {
  if (name === 'anonymous') return null
  if (name === 'someone with a broken token') return `${service.adminToken.slice(0, -2)}xx`
  const sub = /^user (\d+)$/.exec(name)?.[1] ?? (name === 'admin' ? '1' : name)
  return service.token({
    sub,
    name: `The ${name}`,
    ...(roles.length === 0 ? {} : { roles: roles.map(role => `sms-quota:${role}`) }),
  })
}

interface Parts {
  service: Service
  random: Random
  api: ApiDocument
  known: Knowledge
  judge: Judge
  values: Values
  wire: Wire
  readState: () => Promise<string>
}

class Run {
  /** Of each operation, how often it was answered with which class of status. */
  readonly answers = new Map<string, Map<string, number>>()
  private readonly parts: Parts
  private state = ''
  private readonly tries: Operation[]

  constructor(parts: Parts) {
    this.parts = parts
    const { operations } = parts.api
    for (const { id } of operations) this.answers.set(id, new Map())
    // What removes comes last: the others need what there is.
    const inOrder = operations.toSorted(
      (one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'),
    )
    this.tries = inOrder.flatMap(operation =>
      Array.from({ length: NEVER_ACCEPTED.has(operation.id) ? 0 : TRIES }, () => operation),
    )
  }

  /** Fills the service, so that there is something to read and to change. */
  async begin(): Promise<void> {
    for (const call of BEGINNING) await this.parts.wire.send(call)
    await this.goOn()
    for (const call of FIRST_READS) this.learn(call, await this.parts.wire.send(call))
    const webhook = this.parts.known.valueFor('webhook_id', '')
    const deliveries = { ...PLAIN, path: `/api/sms/admin/webhooks/${webhook}/deliveries`, caller: 'admin' }
    this.learn(deliveries, await this.parts.wire.send(deliveries))
  }

  next(): Call {
    const { api, random } = this.parts
    for (let operation = this.tries.shift(); operation !== undefined; operation = this.tries.shift()) {
      if (!this.answers.get(operation.id)?.has('2xx')) return unhurried(this.validCall(operation))
    }
    let call = this.validCall(random.pick(api.operations))
    for (let changes = random.pick([0, 0, 0, 1, 1, 1, 2, 4]); changes > 0; changes -= 1) call = mutate(call, random)
    return unhurried(call)
  }

  /** Makes a call. Resolves to the rule that it breaks. */
  async judge(call: Call): Promise<Fault | null> {
    const { judge, wire, readState } = this.parts
    if (this.state === '') this.state = await readState()
    let answer: Answered
    try {
      answer = await wire.send(call)
    } catch (error) {
      return { rule: 'no answer', detail: `${error}` }
    }
    this.count(call, answer)
    this.learn(call, answer)
    const before = this.state
    this.state = await readState()
    const fault = judge.faultOf(call, answer)
    if (fault !== null) return fault
    if (this.state !== before && !judge.mayChange(call, answer) && !(await this.wasTime(call))) {
      const detail = `${answer.status} ${answer.text.slice(0, 500)}\nchanged: ${differenceOf(before, this.state)}`
      return { rule: 'changed by a call that must not', detail }
    }
    return this.slownessOf(call, answer)
  }

  async smallest(call: Call, { rule }: Fault): Promise<Call> {
    return shrink(call, async smaller => (await this.judge(smaller))?.rule === rule)
  }

  /** Time passes, and events are sent. */
  async goOn(): Promise<void> {
    const { service, random } = this.parts
    service.clock.now += random.integer(3_600_000)
    await service.webhooks.dispatchOnce(service.clock.now)
    await service.webhooks.idle()
    this.state = ''
  }

  close(): void {
    this.parts.wire.close()
  }

  /** Whether a change was due anyway: windows that have ended, reservations that have expired. Then it happens once. */
  private async wasTime(call: Call): Promise<boolean> {
    const { judge, wire, readState } = this.parts
    if (!judge.writesWhatTimeDid(call)) return false
    await wire.send(call)
    const before = this.state
    this.state = await readState()
    return this.state === before
  }

  private count(call: Call, { status }: Answered): void {
    const counts = this.answers.get(this.parts.judge.operationOf(call)?.id ?? '')
    const kind = `${Math.floor(status / 100)}xx`
    counts?.set(kind, (counts.get(kind) ?? 0) + 1)
  }

  /**
   * A call is too slow if it is so each time. The work of the serving thread counts, which other work on the machine does not
   * lengthen; the time only if a processor was free meanwhile: what is slow then waits, or lets the database work. A machine can be
   * twenty times as slow for half a minute, work included: what is measured counts only if a plain call right after it is fast.
   */
  private async slownessOf(call: Call, first: Answered): Promise<Fault | null> {
    const { wire, judge } = this.parts
    // To repeat a change makes another one; it is done only if the first was very slow.
    const maxMs = judge.mayChange(call, first) ? 2_000 : MAX_MS
    if (first.workedMs <= MAX_MS && first.tookMs <= maxMs) return null
    const again = { ...call, headers: call.headers.filter(([name]) => name !== 'idempotency-key') }
    const measured = [describeTime(first)]
    this.state = ''
    for (let counted = 0; counted < 5 && measured.length < MAX_MEASURED; ) {
      const idle = idleMs()
      const answer = await wire.send(again)
      const isFree = idleMs() - idle > answer.tookMs / 4
      const plain = await wire.send(PLAIN)
      measured.push(describeTime(answer))
      const isPlainFast = plain.workedMs < MAX_PLAIN_MS
      const isSlow = answer.tookMs > MAX_MS && isFree && plain.tookMs < MAX_MS / 10
      if (answer.workedMs <= MAX_MS && !isSlow) return null
      if (isPlainFast) counted += 1
    }
    return { rule: 'slow', detail: measured.join(', ') }
  }

  private learn(call: Call, { status, headers, text }: Answered): void {
    const operation = this.parts.judge.operationOf(call)
    if (operation === undefined || status >= 300 || !/\/json/.test(headers['content-type'] ?? '') || text === '') return
    this.parts.known.learn(operation.template, JSON.parse(text))
  }

  private validCall(operation: Operation): Call {
    const { values, random } = this.parts
    const { template } = operation
    const share = random.pick([0, 10, 30])
    const given = (place: string) =>
      operation.parameters
        .filter(it => it.in === place && (it.required || random.percent(share)))
        .flatMap(({ name, schema }) => textsOf(values.valid(schema, name, template)).map(text => [name, text] as const))
    const inPath = new Map(given('path'))
    const query = given('query').map(([name, text]) => [name, encodeURIComponent(text.toWellFormed())] as const)
    const headers = given('header')
    return {
      method: operation.method,
      path: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? name)),
      query,
      headers:
        operation.body === undefined ? headers : [...headers, ['content-type', operation.body.mediaType] as const],
      caller: this.callerOf(operation),
      body: operation.body === undefined ? undefined : this.bodyOf(operation.body, template),
    }
  }

  private callerOf({ roles, template }: Operation): string {
    const { random } = this.parts
    if (random.percent(10)) return random.pick(Object.keys(CALLERS))
    if (template.startsWith('/api/sms/quota')) return random.pick(['user 7', 'user 7', 'user 100'])
    if (roles === 'open' || roles === 'any') return random.pick(['user 7', 'admin', 'sender'])
    if (roles.includes('sender')) return random.pick(['sender', 'sender with force'])
    return random.percent(70) ? 'admin' : random.pick(roles)
  }

  private bodyOf({ mediaType, schema }: { mediaType: string; schema: Schema }, template: string): Body {
    const { values, random } = this.parts
    const one = (): Json => values.valid(schema, '', template)
    if (mediaType !== 'application/x-ndjson') return { kind: 'value', value: one() }
    return { kind: 'lines', values: Array.from({ length: 1 + random.integer(random.pick([1, 5, 40])) }, one) }
  }
}

const jsonCall = (path: string, caller: string, value: Json): Call => ({
  method: 'POST',
  path,
  query: [],
  headers: [['content-type', 'application/json']],
  caller,
  body: { kind: 'value', value },
})

const BEGINNING: readonly Call[] = [
  ...[1, 2].map(() => jsonCall('/api/sms/admin/webhooks', 'admin', { url: 'http://127.0.0.1:1/' })),
  ...[7, 7, 8, 9, 100, 101, 102, 103].map((user_id, place) =>
    jsonCall('/api/sms/admin/quota', 'admin', { user_id, limit: 1_000_000 + place, external_ref: `K-${place}` }),
  ),
  // Calls archive most of them.
  ...Array.from({ length: 20 }, (_, place) =>
    jsonCall('/api/sms/admin/plans', 'admin', {
      name: `Plan ${place}`,
      slots: [{ slot: 'package', limit: 1_000_000, period: 'month' }],
    }),
  ),
  // Open for longer than a run lasts: there is something to settle when a call of it comes.
  ...Array.from({ length: 12 }, (_, place) =>
    jsonCall('/api/sms/sender/quota/reserve', 'sender', {
      user_id: 7,
      id: `m-${place}`,
      units: 1 + place,
      ttl_seconds: 604_800,
    }),
  ),
  ...['m-13', 'm-14'].map(id => jsonCall('/api/sms/sender/quota/consume', 'sender', { user_id: 7, id, units: 20_000 })),
  jsonCall('/api/sms/sender/quota/refund', 'sender', { user_id: 7, id: 'm-14', units: 1 }),
  jsonCall('/api/sms/sender/quota/reserve', 'sender', { user_id: 7, id: 'm-12', units: 999_999_999 }),
  // With the one that a call makes, as many as a user may have open: to be approved, declined and taken back.
  ...[1, 2].map(units => jsonCall('/api/sms/quota/requests', 'user 7', { units, until: null, reason: 'a branch' })),
  ...[101, 102].map(user_id => jsonCall('/api/sms/admin/pauses', 'admin', { user_id, country: 'FR' })),
  { method: 'DELETE', path: '/api/sms/admin/users/100/data', query: [], headers: [], caller: 'admin', body: undefined },
]

const PLAIN: Call = { method: 'GET', path: '/livez', query: [], headers: [], caller: 'anonymous', body: undefined }

/** What exists then. */
const FIRST_READS: readonly Call[] = [
  { ...PLAIN, path: '/api/sms/admin/quota/list', caller: 'admin' },
  { ...PLAIN, path: '/api/sms/admin/webhooks', caller: 'admin' },
  { ...PLAIN, path: '/api/sms/admin/plans', caller: 'admin' },
  { ...PLAIN, path: '/api/sms/admin/pauses', caller: 'admin' },
  { ...PLAIN, path: '/api/sms/admin/requests', caller: 'admin' },
  { ...PLAIN, path: '/api/sms/quota/denials', caller: 'user 7' },
]

/** How long the processors of the machine have been idle, in milliseconds. */
const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0)

const describeTime = ({ tookMs, workedMs }: Answered) => `${Math.round(tookMs)} ms (${Math.round(workedMs)} ms of work)`

function textsOf(value: Json): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

/** Without waiting for the next event, which takes as long as the call asks for. */
function unhurried(call: Call): Call {
  return {
    ...call,
    query: call.query.map(([name, value]) => [name, /^wait_seconds/.test(name) && /^\d+$/.test(value) ? '0' : value]),
  }
}
