/**
 * A lease: units that this process has reserved and spends without asking the service.
 *
 * They come in *slices*, which are reservations with `onExpiry: 'commit'`. A slice whose process dies is charged when it expires, so
 * nothing is spent that is not charged, even if clocks are wrong: a clock only decides when a slice is given back.
 *
 * | slice    | meaning                                        | entered by              | left by                       |
 * |----------|------------------------------------------------|-------------------------|-------------------------------|
 * | asked    | the service has not answered for certain       | a refill                | an answer to the same request |
 * | lost     | it may have been reserved, or may still be     | a denial or refusal of a request whose earlier answer was lost | its release, or time |
 * | held     | units are spent from it                        | a grant                 | all is spent, its age, `close` |
 * | open     | what was spent is committed, the rest released | the end of `held`       | an answer                     |
 */
import type { Denied, Granted, ReserveReq } from './api.ts'
import { isRefusedForGood, isUncertain, UnavailableError } from './errors.ts'
import { createSettlements, type SettlementCalls, type Settlements } from './lease-settlements.ts'
import { createSlices, MAX_MESSAGES, type Slices } from './lease-slices.ts'
import type { Timers } from './timers.ts'
import type { OwnCallOptions } from './transport.ts'
import { userOf } from './user.ts'

export interface LeaseInput {
  /** Either this or `userRef`. */
  userId?: number
  userRef?: string
  /** How many units to reserve at a time. It asks for the next ones when half of them are left. */
  units: number
  country?: string
  messageType?: string
  /** After how long the units of a process that died are charged; 60 if left out. Units that are not spent in half of it go back. */
  ttlSeconds?: number
}

export interface Lease {
  /**
   * Spends units if this process holds them, without waiting.
   *
   * @throws RangeError if the units are not a positive whole number, and Error after `close`
   */
  trySpend(units?: number): boolean
  /**
   * Spends units, and waits for the next slice if this process does not hold them.
   *
   * @throws UnavailableError if there is none in time, QuotaError, and what `trySpend` throws
   */
  spend(units?: number): Promise<{ granted: true } | Denied>
  /**
   * Gives back units that were spent for a message that was not sent.
   *
   * @throws RangeError if these are more than were spent of the last 10,000 slices, and Error after `close`
   */
  giveBack(units?: number): void
  /** Units that can be spent without waiting. */
  held(): number
  /**
   * Commits what was spent and releases the rest. Call it when no send is under way.
   *
   * @throws UnavailableError, QuotaError; then it may be called again, and what is not settled is charged when it expires
   */
  close(): Promise<void>
}

/** What caps may count by itself. A slice is of no recipient and no tag. */
export type NamedValues = Pick<ReserveReq, 'recipient' | 'tag'>

/** A lease as the client and the agent use it. */
export interface OwnLease extends Lease {
  /**
   * Whether a message meets no cap that a slice has not met. One that names a recipient or a tag may, if the service has said with the
   * newest slice that caps count these: the service has to be asked for it.
   */
  canPayFor(message: NamedValues): boolean
  /**
   * Whether caps of the user count messages. Then each unit of a slice counts as one, until all of it is given back: such a cap is never
   * exceeded, and reached early.
   */
  countsMessages(): boolean
  /** Asks for a slice ahead if few units are left, or for a new one if it keeps one that is old. */
  prepare(): void
  /** The id of the user; undefined until the service has granted a slice. */
  userId(): number | undefined
  /** The request for a slice that is under way; it rejects as `spend` does. */
  refilling(): Promise<unknown> | undefined
  /** After `close` has failed: tries no more. What is not settled is charged when it expires. */
  giveUp(): void
  /** @param isWholeMessage false if a part of it is still paid, so that it counts as sent */
  giveBack(units?: number, isWholeMessage?: boolean): void
}

export interface OwnLeaseInput extends LeaseInput {
  /**
   * Keeps a slice until the next one is granted, instead of giving it back after half of its time: for an outage, in which there
   * is no next one. It may be spent even after it has expired, because then it is charged.
   */
  keepsSlices?: boolean
}

export interface LeaseCalls extends SettlementCalls {
  reserve(input: ReserveReq, options?: OwnCallOptions): Promise<Granted | Denied>
}

const TTL_SECONDS = 60
/** A slice has at most this part of what its quotas have left, so that leases of several processes share the end. */
const PART_OF_REST = 4
/** After a denial or a failure no slice is asked for ahead for so long. */
const DRY_MS = 1_000
/** With more slices to settle, no further ones are asked for: the service has trouble. */
const MAX_OPEN = 16

export function createLease(calls: LeaseCalls, input: OwnLeaseInput, timers: Timers): OwnLease {
  assertUnits(input.units)
  return new SlicedLease(calls, input, timers)
}

/** A request for a slice. */
interface Asked {
  readonly number: number
  readonly request: ReserveReq
  readonly at: number
  /** When the last attempt ended that may have taken effect; null if none may have. */
  uncertainAt: number | null
}

class SlicedLease implements OwnLease {
  private readonly calls: LeaseCalls
  private readonly input: LeaseInput
  private readonly now: () => number
  private readonly ttlSeconds: number
  private readonly keepsSlices: boolean
  private readonly settlements: Settlements
  private readonly slices: Slices
  private readonly prefix = `lease:${crypto.randomUUID()}`
  private number = 0
  private user: number | undefined
  /** Units of the next slice. */
  private size: number
  /** Units that callers wait for. */
  private awaited = 0
  private asked: Asked | undefined
  private refill: Promise<Granted | Denied> | undefined
  /** Of the newest slice. */
  private halfTime = Number.POSITIVE_INFINITY
  private dryUntil = Number.NEGATIVE_INFINITY
  /** Whether caps of the user count recipients or tags, as far as the newest slice says. */
  private hasCapsPerValue = false
  private hasCapsOnMessages = false
  private isClosed = false
  /** What `close` does, one call after the other. */
  private closing: Promise<void> = Promise.resolve()

  constructor(calls: LeaseCalls, { keepsSlices = false, ...input }: OwnLeaseInput, timers: Timers) {
    const { now, later } = timers
    this.calls = calls
    this.input = input
    this.keepsSlices = keepsSlices
    this.now = now
    this.ttlSeconds = input.ttlSeconds ?? TTL_SECONDS
    this.size = input.units
    this.settlements = createSettlements(calls, {
      user: userOf(input),
      idOf: number => this.idOf(number),
      timers,
      mayForget: charged => this.slices.forget(charged),
    })
    this.slices = createSlices({ later, onEnd: slice => this.settlements.add(slice) })
  }

  held(): number {
    return this.slices.held
  }

  canPayFor({ recipient, tag }: NamedValues): boolean {
    return !this.hasCapsPerValue || (recipient === undefined && tag === undefined)
  }

  countsMessages(): boolean {
    return this.hasCapsOnMessages
  }

  userId(): number | undefined {
    return this.user
  }

  trySpend(units = 1): boolean {
    this.assertOpen()
    assertUnits(units)
    // Those who wait already come first.
    const isTaken = this.awaited === 0 && this.slices.take(units)
    this.prepare()
    return isTaken
  }

  prepare(): void {
    this.assertOpen()
    const isLow = this.slices.held < this.size / 2
    const isOld = this.keepsSlices && this.now() >= this.halfTime
    const mayAsk = this.refill === undefined && this.now() >= this.dryUntil && !this.isFull()
    if ((isLow || isOld) && mayAsk) this.startRefill().catch(() => {})
  }

  refilling(): Promise<unknown> | undefined {
    return this.refill
  }

  async spend(units = 1): Promise<{ granted: true } | Denied> {
    if (this.trySpend(units)) return { granted: true }
    this.awaited += units
    try {
      for (;;) {
        const answer = await this.startRefill()
        this.assertOpen()
        if (this.slices.take(units)) return { granted: true }
        if (!answer.granted) return answer
      }
    } finally {
      this.awaited -= units
    }
  }

  giveBack(units = 1, isWholeMessage = true): void {
    this.assertOpen()
    assertUnits(units)
    this.slices.giveBack(units, isWholeMessage)
  }

  close(): Promise<void> {
    this.isClosed = true
    this.closing = this.closing.catch(() => {}).then(() => this.settle())
    return this.closing
  }

  giveUp(): void {
    this.settlements.giveUp()
  }

  private async settle(): Promise<void> {
    await this.refill?.catch(() => {})
    if (this.asked !== undefined) await this.startRefill()
    this.slices.endAll()
    await this.settlements.finish(this.slices)
  }

  private startRefill(): Promise<Granted | Denied> {
    this.refill ??= this.askForSlice().finally(() => {
      this.refill = undefined
    })
    return this.refill
  }

  /** Whether too much is left to settle for a new request. */
  private isFull(): boolean {
    return this.asked === undefined && this.settlements.open() >= MAX_OPEN
  }

  /** A request of which any attempt may have reserved a slice is repeated as it was, until that is certain. */
  private async askForSlice(): Promise<Granted | Denied> {
    if (this.isFull()) {
      const message = `${MAX_OPEN} slices are not settled yet`
      throw new UnavailableError(message, { mayHaveTakenEffect: false, isOutage: false })
    }
    this.asked ??= this.nextRequest()
    const { asked } = this
    const note = (error: unknown) => {
      if (isUncertain(error)) asked.uncertainAt = this.now()
    }
    const answer = await this.calls.reserve(asked.request, { onFailure: note }).catch(error => {
      this.dryUntil = this.now() + DRY_MS
      note(error)
      if (asked.uncertainAt === null || isRefusedForGood(error)) this.drop(asked)
      throw error
    })
    if (answer.granted) {
      this.asked = undefined
      this.addSlice(asked, answer)
    } else {
      this.drop(asked)
      this.dryUntil = this.now() + DRY_MS
    }
    return answer
  }

  /** Of a request that is not repeated, an earlier attempt may have reserved a slice, or may still arrive. */
  private drop({ number, uncertainAt }: Asked): void {
    this.asked = undefined
    if (uncertainAt !== null) this.settlements.lose(number, uncertainAt)
  }

  private addSlice({ number, at, request }: Asked, { userId, units, remaining, explain, draws }: Granted): void {
    this.user = userId
    // A repeated request may be answered without: then it is not known.
    this.hasCapsPerValue = explain?.some(({ verdict }) => verdict === 'no_value') ?? true
    this.halfTime = at + (this.ttlSeconds * 1_000) / 2
    if (this.keepsSlices) this.slices.endAll()
    // It counts as one message there, and is to pay for several: it goes back, and the next one says so.
    const isTooFew = request.messages === undefined && draws.some(draw => draw.kind === 'cap' && draw.units !== units)
    if (isTooFew) {
      this.hasCapsOnMessages = true
      this.settlements.add({ number, units, spent: 0, messages: 0 })
      return
    }
    this.slices.add(number, units, this.keepsSlices ? null : this.halfTime - this.now())
    this.size = this.sizeWith(remaining)
  }

  private nextRequest(): Asked {
    this.number += 1
    const { number, ttlSeconds } = this
    const units = Math.max(this.size, this.awaited - this.slices.held)
    const request: ReserveReq = {
      ...this.input,
      id: this.idOf(number),
      units,
      // No message costs less than a unit.
      ...(this.hasCapsOnMessages ? { messages: Math.min(units, MAX_MESSAGES) } : {}),
      explain: true,
      ttlSeconds,
      allowPartial: true,
      onExpiry: 'commit',
    }
    return { number, request, at: this.now(), uncertainAt: null }
  }

  private idOf(number: number): string {
    return `${this.prefix}:${number}`
  }

  private sizeWith(remaining: number | null): number {
    if (remaining === null) return this.input.units
    return Math.min(this.input.units, Math.max(1, Math.ceil(remaining / PART_OF_REST)))
  }

  private assertOpen(): void {
    if (this.isClosed) throw new Error('the lease is closed')
  }
}

/** @throws RangeError */
export function assertUnits(units: number): void {
  if (!(Number.isSafeInteger(units) && units >= 1))
    throw new RangeError(`units must be a positive whole number, not ${units}`)
}
