/** Senders (64 by default): each settles its own messages and sometimes repeats another sender's commands. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Books, Entry, ShownReservation } from './books.ts'
import { type Answer, type Deployment, RETENTION_S } from './deployment.ts'

const SENDER = '/api/sms/sender/quota'
/** Only these users have forced commands, so that all others must stay within their limits at all times. */
export const FORCING_USERS = [45, 46, 47, 48, 49]
export const HOT_USER = 0
export const USERS = 50

/** Commands are repeated only this soon, so that retention has not deleted the id. */
const MAX_REPEAT_S = 5

export interface Senders {
  /** Resolves when every call is answered. */
  stop(): Promise<void>
}

export function startSenders(deployment: Deployment, books: Books, random: () => number, count = 64): Senders {
  let isStopped = false
  let made = 0
  const recent: Entry[] = []
  const below = (bound: number) => Math.floor(random() * bound)
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)]

  /** Repeats a call until a service answers it. */
  async function callUntilAnswered(path: string, body: object): Promise<Answer & { begun: number }> {
    for (const begun = performance.now(); ; ) {
      const answer = await deployment.call('POST', `${SENDER}/${path}`, body)
      if (answer !== undefined) return { ...answer, begun }
      books.unanswered += 1
      if (performance.now() - begun > (RETENTION_S - MAX_REPEAT_S) * 1_000) {
        throw new Error(`no service answers ${path} ${JSON.stringify(body)}`)
      }
      await pause(10 + below(60))
    }
  }

  function newEntry(): Entry {
    made += 1
    const isHot = random() < 0.5
    const user = isHot ? HOT_USER : 1 + below(USERS - 1)
    const op = random() < 0.15 ? 'consume' : 'reserve'
    const force = op === 'consume' && FORCING_USERS.includes(user) && random() < 0.5
    const onExpiry = random() < 0.2 ? 'commit' : 'release'
    const id = `c${made}`
    const body = {
      user_id: user,
      id,
      units: 1 + below(random() < 0.1 ? 60 : 4),
      ...(random() < 0.1 ? { allow_partial: true } : {}),
      ...(random() < 0.3 ? { message_type: oneOf(['otp', 'news']) } : {}),
      ...(random() < 0.3 ? { country: oneOf(['DE', 'FR']) } : {}),
      ...(force ? { force } : {}),
      // Half of them expire while their sender still settles them.
      ttl_seconds: 60 + below(3_600),
      on_expiry: onExpiry,
    }
    return {
      user,
      id,
      op,
      body,
      onExpiry,
      force,
      shown: undefined,
      begun: performance.now(),
      firstShownAt: 0,
      changedAt: 0,
      shownAt: 0,
    }
  }

  /** Records the answer to a first or repeated command. */
  function recordAnswer(entry: Entry, { status, body, begun }: Answer & { begun: number }, isOwners: boolean): void {
    if (status === 200 && body.granted === false) {
      // Answers may overtake each other, but a call that began after the first answer must not contradict it.
      if (entry.shown !== undefined && entry.firstShownAt < begun)
        books.contradictions.push(`${entry.user} ${entry.id}: granted, then denied`)
      books.denied += 1
    } else if (status === 200) {
      books.acknowledged += 1
      if (body.replayed) books.replayed += 1
      books.note(entry, body, isOwners)
    } else if (status === 409 && body.code === 'reservation_closed') {
      books.note(entry, body.reservation, isOwners)
    } else {
      books.contradictions.push(`${JSON.stringify(entry.body)}: ${status} ${JSON.stringify(body)}`)
    }
  }

  async function settle(entry: Entry, op: 'commit' | 'release' | 'refund', total?: number): Promise<void> {
    const named = { user_id: entry.user, id: entry.id, ...(total === undefined ? {} : { total_units: total }) }
    const { status, body } = await callUntilAnswered(op, named)
    const shown: ShownReservation | undefined = status === 200 ? body : body.reservation
    if (shown === undefined || (status !== 200 && body.code !== 'reservation_closed')) {
      books.contradictions.push(`${op} ${JSON.stringify(named)}: ${status} ${JSON.stringify(body)}`)
      return
    }
    if (status === 200) {
      books.acknowledged += 1
      books.settled += 1
      const done = { commit: shown.committed, release: shown.released, refund: shown.refunded }[op]
      if (total !== undefined && done < total) books.contradictions.push(`${op} ${entry.id}: ${done} is not ${total}`)
    }
    books.note(entry, shown, true)
  }

  async function sendMessage(): Promise<void> {
    const entry = newEntry()
    books.entries.set(`${entry.user} ${entry.id}`, entry)
    recordAnswer(entry, await callUntilAnswered(entry.op, entry.body), true)
    recent[below(200)] = entry
    for (let step = 0; step < 4 && entry.shown !== undefined; step++) {
      const { units, committed, released, refunded } = entry.shown
      const choice = random()
      if (choice < 0.3) await settle(entry, 'commit', Math.min(units - released, committed + 1 + below(units)))
      else if (choice < 0.45) await settle(entry, 'commit')
      else if (choice < 0.6) await settle(entry, 'release', Math.min(units - committed, released + 1))
      else if (choice < 0.7) await settle(entry, 'refund', Math.min(committed, refunded + 1))
      else if (choice < 0.75) await settle(entry, 'release')
      else if (choice < 0.8) await pause(below(1_500))
      else return
    }
  }

  /** Repeats the command of any sender's message, perhaps before its first answer. */
  async function repeat(): Promise<void> {
    const entry = oneOf(recent)
    if (entry === undefined) return
    if (entry.shown !== undefined && performance.now() - entry.shownAt > MAX_REPEAT_S * 1_000) return
    recordAnswer(entry, await callUntilAnswered(entry.op, entry.body), false)
  }

  /** Sends several new messages in one call. */
  async function batch(): Promise<void> {
    const entries = Array.from({ length: 2 + below(6) }, newEntry)
    for (const entry of entries) books.entries.set(`${entry.user} ${entry.id}`, entry)
    let pending = entries
    while (pending.length > 0) {
      const { body, begun } = await callUntilAnswered('batch', {
        operations: pending.map(({ op, body }) => ({ op, ...body })),
      })
      const results: Answer[] = body.results
      const again = pending.filter((_, n) => results[n]?.status === 503)
      for (const [n, entry] of pending.entries()) {
        const answer = results[n]
        if (answer !== undefined && answer.status !== 503) recordAnswer(entry, { ...answer, begun }, true)
      }
      books.unanswered += again.length
      pending = again
      if (pending.length > 0) await pause(50)
    }
  }

  async function sender(): Promise<void> {
    while (!isStopped) {
      const choice = random()
      if (choice < 0.75) await sendMessage()
      else if (choice < 0.95) await repeat()
      else await batch()
    }
  }

  const senders = Promise.all(Array.from({ length: count }, sender))
  // `stop` rejects with the first error.
  senders.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await senders
    },
  }
}
