import { type Database, isUnavailable, type Log } from '../db/connection/database.ts'
import { concernsRows } from '../db/connection/errors.ts'
import type { StoredEvent } from '../db/outbox/outbox.ts'
import { namesOfUsers, type UserNames } from '../db/users/profiles.ts'
import {
  type Attempt,
  type Claim,
  claimDeliveries,
  findClaimedEvents,
  releaseDeliveries,
} from '../db/webhooks/deliveries.ts'
import { type ClaimedForUsers, claimForUsers, claimMessages, findEventHeads } from '../db/webhooks/messages.ts'
import type { Recipient } from '../db/webhooks/recipients.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import { findSigningWebhook, type SigningWebhook } from '../db/webhooks/secrets.ts'
import { eventIdOf } from '../domain/events/event.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { WebhookKind } from '../domain/webhooks/webhook.ts'
import { notSent } from '../events/kinds.ts'
import { type EndedAttempt, type Settled, settleDeliveries } from '../events/settle-delivery.ts'
import { MAX_LISTED, type MessageEvents } from '../messages/message.ts'
import { forEachApart } from './isolation.ts'

export interface ChannelOptions {
  db: Database
  keys: SecretKeys
  now: () => EpochMs
  log: Log
  /** How long an attempt may take, in milliseconds. */
  timeoutMsOf(kind: WebhookKind): number
  /** Once it has aborted, attempts that fail count as not made. */
  stopping: AbortSignal
  send(webhook: SigningWebhook, claimed: Claimed): Promise<Attempt>
  onDelivery?: ((outcome: Settled) => void) | undefined
  /** Called when nothing is left to do; the channel then holds nothing. */
  onIdle(): void
}

/** The content that one attempt sends: the event of a claim, or one message about the events of many. */
export interface Claimed extends MessageEvents {
  claims: readonly Claim[]
  first: readonly StoredEvent[]
  /** The names of the users of these events, for people. */
  names: ReadonlyMap<number, UserNames>
  /** The user whose events they are; null: of a webhook that does not write to users. */
  to: Recipient | null
}

const NO_NAMES: Claimed['names'] = new Map()

/** Attempts under way at one webhook, by one process. Each one that ends lets the next begin. */
const WINDOW = 16
/** Deliveries claimed ahead, which keep the window full while outcomes are written and deliveries are read. */
const AHEAD = 48
/**
 * While every attempt at a webhook fails, each start makes this many attempts, and the first success opens the window. So a
 * receiver that is down costs little, however long its backlog is.
 */
const FAILING_WINDOW = 4

/** The time after the longest attempt from which a delivery may be claimed again, by any process. */
const LEASE_EXTRA_MS = 5_000

/** Attempts the deliveries of one webhook, beside those of the others. */
export interface WebhookChannel {
  /**
   * Attempts the deliveries that are due. No more attempts begin once the signal has aborted. If the database fails, the
   * outcomes that are not written yet are kept, and written after the next start.
   */
  start(signal: AbortSignal): void
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
}

export function createWebhookChannel(id: number, options: ChannelOptions): WebhookChannel {
  return new LeasingChannel(id, options)
}

class LeasingChannel implements WebhookChannel {
  private readonly id: number
  private readonly options: ChannelOptions
  /** Claimed, and not attempted yet. */
  private waiting: Claimed[] = []
  /** Under way. */
  private readonly attempts = new Set<Promise<void>>()
  /** To be settled. */
  private ended: EndedAttempt[] = []
  /** To be given back: their attempts were aborted, or never begun. */
  private returned: Claim[] = []
  /** As it was when deliveries were last claimed. */
  private webhook: SigningWebhook | undefined
  /** Whether deliveries may be due that are not claimed. */
  private mayBeDue = false
  private signal: AbortSignal
  private isRunning = false
  private running: Promise<void> | undefined
  private changed = Promise.withResolvers<void>()

  constructor(id: number, options: ChannelOptions) {
    this.id = id
    this.options = options
    this.signal = options.stopping
  }

  start(signal: AbortSignal): void {
    const { log, stopping } = this.options
    if (signal.aborted || stopping.aborted) return
    this.signal = signal
    this.mayBeDue = true
    this.changed.resolve()
    if (this.isRunning) return
    this.isRunning = true
    this.running = this.run().catch(error => {
      this.isRunning = false
      log.warn({ reason: String(error), webhook: this.id }, 'webhook dispatcher: deliveries interrupted')
    })
  }

  async idle(): Promise<void> {
    while (this.isRunning || this.attempts.size > 0) await Promise.all([this.running, ...this.attempts])
  }

  /** Goes back and forth between the database and the window until nothing is due and no attempt is under way. */
  private async run(): Promise<void> {
    for (;;) {
      this.changed = Promise.withResolvers()
      await this.settle()
      if (this.mustStop()) this.dropWaiting()
      await this.giveBack()
      if (this.mayClaim()) await this.refill()
      this.fillWindow()
      if (this.ended.length > 0 || this.returned.length > 0 || (this.mayClaim() && this.room() > 0)) continue
      if (this.attempts.size > 0) await this.changed.promise
      else if (this.waiting.length === 0) break
    }
    this.isRunning = false
    this.options.onIdle()
  }

  private mustStop(): boolean {
    return this.options.stopping.aborted || this.signal.aborted
  }

  private mayClaim(): boolean {
    return this.mayBeDue && !this.mustStop()
  }

  private isFailing(): boolean {
    return this.webhook !== undefined && this.webhook.failing_since !== null
  }

  /** The number of deliveries to claim. */
  private room(): number {
    return (this.isFailing() ? FAILING_WINDOW : WINDOW + AHEAD) - this.attempts.size - this.waiting.length
  }

  private timeoutMs(): number {
    return this.options.timeoutMsOf(this.webhook?.kind ?? 'webhook')
  }

  private async settle(): Promise<void> {
    const batch = this.ended
    if (batch.length === 0) return
    this.ended = []
    try {
      await this.write(batch)
    } catch (error) {
      if (isOutage(error)) {
        this.ended = [...batch, ...this.ended]
        throw error
      }
      // One delivery is the problem: it is attempted again after its lease.
      await forEachApart(batch, undefined, one => this.write([one]))
    }
  }

  private async write(batch: readonly EndedAttempt[]): Promise<void> {
    const { db, now: clock, onDelivery } = this.options
    for (const outcome of await settleDeliveries(db, this.id, batch, clock(), Math.random)) {
      if (outcome === 'delivered') this.mayBeDue = true
      onDelivery?.(outcome)
    }
  }

  private dropWaiting(): void {
    this.returned.push(...this.waiting.flatMap(({ claims }) => claims))
    this.waiting = []
  }

  private async giveBack(): Promise<void> {
    const claims = this.returned
    this.returned = []
    await releaseDeliveries(this.options.db, this.id, claims, this.options.now())
  }

  private async refill(): Promise<void> {
    const { db, keys, now: clock } = this.options
    // A process that has no key for the secret claims nothing: another process may have it.
    this.webhook = await findSigningWebhook(db, keys, this.id)
    if (this.webhook === undefined || !this.webhook.enabled) this.mayBeDue = false
    if (!this.mayBeDue || this.isFailing()) this.dropWaiting()
    const count = this.room()
    if (!this.mayBeDue || count <= 0) return
    this.mayBeDue = false
    const now = clock()
    // A claim waits for a timeout at most until its attempt begins, and then for the attempt.
    const leaseUntil = now + 2 * this.timeoutMs() + LEASE_EXTRA_MS
    if (this.webhook?.kind === 'users') {
      const claimed = await claimForUsers(db, this.id, now, leaseUntil, count)
      if (claimed.hasMore && !this.isFailing()) this.mayBeDue = true
      await this.prepareForUsers(claimed)
      return
    }
    if (this.webhook?.kind !== 'webhook') {
      const { claims, isOne } = await claimMessages(db, this.id, now, leaseUntil)
      await (isOne ? this.prepareOne(claims) : this.prepare(claims))
      return
    }
    const claims = await claimDeliveries(db, this.id, now, leaseUntil, count)
    if (claims.length === count && !this.isFailing()) this.mayBeDue = true
    await this.prepare(claims)
  }

  /** Reads the events of claims. One that cannot be read does not hold up the others. */
  private async prepare(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return
    try {
      const events = await findClaimedEvents(this.options.db, claims)
      const names = await this.namesOf(events)
      const byId = new Map(events.map(event => [eventIdOf(event), event]))
      for (const claim of claims) {
        const event = byId.get(eventIdOf(claim))
        if (event === undefined) this.endGone(claim)
        else this.waiting.push({ claims: [claim], first: [event], counts: countsOf([event]), names, to: null })
      }
    } catch (error) {
      if (isOutage(error)) {
        this.returned.push(...claims)
        throw error
      }
      const [claim, ...others] = claims
      if (others.length > 0) for (const one of claims) await this.prepare([one])
      else if (claim !== undefined)
        this.ended.push({ claim, attempt: notSent('the event could not be read'), event: 'unreadable' })
    }
  }

  /** Reads what one message says of the events of claims: their types, and the oldest of them. */
  private async prepareOne(claims: readonly Claim[]): Promise<void> {
    const { db } = this.options
    try {
      const byId = new Map(claims.map(claim => [eventIdOf(claim), claim]))
      const heads = (await findEventHeads(db, claims)).flatMap(head => {
        const claim = byId.get(eventIdOf(head))
        return claim === undefined ? [] : [{ type: head.type, claim }]
      })
      const messages: Claimed[] = []
      // Events that some addresses have already go to the others only.
      for (const group of Map.groupBy(heads, ({ claim }) => claim.addresses?.join() ?? null).values()) {
        const about = group.map(({ claim }) => claim)
        const first = await this.readListed(about)
        messages.push({ claims: about, first, counts: countsOf(group), names: await this.namesOf(first), to: null })
      }
      this.waiting.push(...messages)
      const kept = new Set(heads.map(({ claim }) => claim))
      for (const claim of claims) if (!kept.has(claim)) this.endGone(claim)
    } catch (error) {
      this.returned.push(...claims)
      throw error
    }
  }

  /** Reads what the message to each user says of the events. Users who get no messages any more do not hold up the webhook. */
  private async prepareForUsers({ messages, unwanted, gone }: ClaimedForUsers): Promise<void> {
    try {
      const ready: Claimed[] = []
      for (const { claims, heads, to } of messages)
        ready.push({ claims, first: await this.readListed(claims), counts: countsOf(heads), names: NO_NAMES, to })
      this.waiting.push(...ready)
      for (const claim of unwanted) this.ended.push({ claim, attempt: NO_RECIPIENT, event: 'gone' })
      for (const claim of gone) this.endGone(claim)
    } catch (error) {
      this.returned.push(...messages.flatMap(({ claims }) => claims), ...unwanted, ...gone)
      throw error
    }
  }

  /** Reads the events of claims that a message lists, in their order. One that cannot be read is counted, and not listed. */
  private async readListed(claims: readonly Claim[]): Promise<StoredEvent[]> {
    const events = await findClaimedEvents(this.options.db, claims.slice(0, MAX_LISTED)).catch(error => {
      if (isOutage(error)) throw error
      return []
    })
    const byId = new Map(events.map(event => [eventIdOf(event), event]))
    return claims.flatMap(claim => byId.get(eventIdOf(claim)) ?? [])
  }

  /** Programs get ids only. */
  private async namesOf(events: readonly StoredEvent[]): Promise<Claimed['names']> {
    if (this.webhook?.kind === 'webhook') return NO_NAMES
    const users = new Set(events.flatMap(({ user_id }) => user_id ?? []))
    return namesOfUsers(this.options.db, [...users])
  }

  private endGone(claim: Claim): void {
    this.ended.push({ claim, attempt: notSent('the event is not kept any more'), event: 'gone' })
  }

  private fillWindow(): void {
    const { webhook } = this
    while (webhook !== undefined && this.attempts.size < WINDOW && !this.mustStop()) {
      const next = this.waiting.shift()
      if (next === undefined) return
      const claimedAt = next.claims[0]?.last_attempt_at ?? 0
      if (this.options.now() > claimedAt + this.timeoutMs()) {
        this.returned.push(...next.claims)
        continue
      }
      const attempt = this.attempt(webhook, next).finally(() => {
        this.attempts.delete(attempt)
        this.fillWindow()
        this.changed.resolve()
      })
      this.attempts.add(attempt)
    }
  }

  private async attempt(webhook: SigningWebhook, claimed: Claimed): Promise<void> {
    const { send, stopping } = this.options
    const { claims } = claimed
    const { answer, ...outcome } = await send(webhook, claimed).catch((error): Attempt => notSent(String(error)))
    // An answer to many events may name users of other deliveries, which an erasure does not find.
    const attempt = answer === undefined || claims.length > 1 ? outcome : { ...outcome, answer }
    // An attempt that this process has aborted says nothing about the receiver.
    if (!attempt.delivered && stopping.aborted) this.returned.push(...claims)
    else for (const claim of claims) this.ended.push({ claim, attempt, event: 'sent' })
  }
}

/** How many there are of each type. */
function countsOf(events: readonly { type: string }[]): MessageEvents['counts'] {
  return [...Map.groupBy(events, ({ type }) => type)].map(([type, some]) => ({ type, count: some.length }))
}

/** The user has taken the address back since the event, has confirmed another one, or the mail server has refused it. */
const NO_RECIPIENT: Attempt = { delivered: true, response_code: null, error: 'the user has no confirmed address' }

/** Whether the database is away, and not one delivery the problem. */
const isOutage = (error: unknown) => isUnavailable(error) && !concernsRows(error)
