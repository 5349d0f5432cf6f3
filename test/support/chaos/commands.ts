/** The senders' commands: each is called until it is answered, and its answer is recorded. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  knownOf,
  recordCheck,
  recordDecision,
  recordFeedback,
  recordFind,
  recordSettlement,
  recordSettlementByTwins,
  recordTwins,
  type Settlement,
} from './answers.ts'
import { createCaller, NO_USER, noteUnavailable, type Reply } from './caller.ts'
import type { Answer, Deployment } from './deployment.ts'
import type { Entry, RunRecord } from './record.ts'

const SENDER = '/api/sms/sender/quota'

export interface Commands {
  /** Asks for the message's units, for the first time or again. */
  ask(entry: Entry, isOwners: boolean): Promise<void>
  /** Asks twice for the same message at the same time. */
  askByTwins(entry: Entry): Promise<void>
  /** Asks for several messages in one call. */
  askTogether(entries: readonly Entry[]): Promise<void>
  settle(entry: Entry, op: Settlement, total?: number): Promise<void>
  /** Commits all that is outstanding, or else refunds all that is committed, twice at the same time. */
  settleByTwins(entry: Entry): Promise<void>
  /** Says twice at the same time that the code was entered. */
  feedback(entry: Entry): Promise<void>
  find(entry: Entry, isOwners: boolean): Promise<void>
  check(user: number, units: number): Promise<void>
}

export function createCommands(deployment: Deployment, record: RunRecord, random: () => number): Commands {
  const call = createCaller(deployment, record, random)
  const post = (user: number, path: string, body: object, service?: number) =>
    call(user, { method: 'POST', path: `${SENDER}/${path}`, body, service })

  /** Sends a call twice at the same time, to both services or to the same. */
  function postTwice(user: number, path: string, body: object): Promise<Reply[]> {
    const one = Number(random() < 0.5)
    const other = random() < 0.7 ? 1 - one : one
    return Promise.all([one, other].map(service => post(user, path, body, service)))
  }

  /** Counts calls that may create the entries' reservations as open, until `work` is done. */
  async function whileOpen(entries: readonly Entry[], calls: number, work: () => Promise<void>): Promise<void> {
    for (const entry of entries) {
      record.entries.set(`${entry.user} ${entry.id}`, entry)
      entry.begun += calls
      entry.open += calls
    }
    await work()
    for (const entry of entries) entry.open -= calls
  }

  async function askUntilAllAnswered(entries: readonly Entry[]): Promise<void> {
    let pending = entries
    for (let isRepeated = false; pending.length > 0; isRepeated = true) {
      if (isRepeated) await pause(50)
      const operations = pending.map(({ op, body }) => ({ op, ...body }))
      const reply = await post(NO_USER, 'batch', { operations })
      const unanswered: Entry[] = []
      for (const [index, entry] of pending.entries()) {
        const result: Answer = reply.body.results[index]
        if (result.status === 503) {
          noteUnavailable(record, entry.user, reply.begunAt, result)
          unanswered.push(entry)
        } else {
          recordDecision(record, entry, { ...reply, ...result, isRepeated: isRepeated || reply.isRepeated }, true)
        }
      }
      pending = unanswered
    }
  }

  return {
    ask: (entry, isOwners) =>
      whileOpen([entry], 1, async () => {
        recordDecision(record, entry, await post(entry.user, entry.op, entry.body), isOwners)
      }),

    askByTwins: entry =>
      whileOpen([entry], 2, async () => {
        recordTwins(record, entry, await postTwice(entry.user, entry.op, entry.body))
      }),

    async askTogether(entries) {
      record.count('batches')
      await whileOpen(entries, 1, () => askUntilAllAnswered(entries))
    },

    async settle(entry, op, total) {
      recordSettlement(record, entry, op, total, await post(entry.user, op, settlementOf(entry, total)))
    },

    async feedback(entry) {
      const body = { user_id: entry.user, id: entry.id, verified: true }
      recordFeedback(record, entry, await postTwice(entry.user, 'feedback', body))
    },

    async settleByTwins(entry) {
      if (entry.shown === undefined) return
      const { units, committed, released, refunded } = entry.shown
      const isOutstanding = committed + released < units
      const total = isOutstanding ? units - released : committed
      if (!isOutstanding && refunded === committed) return
      const op = isOutstanding ? 'commit' : 'refund'
      const replies = await postTwice(entry.user, op, settlementOf(entry, total))
      recordSettlementByTwins(record, entry, op, total, replies, deployment.now())
    },

    async find(entry, isOwners) {
      const known = knownOf(entry)
      const path = `${SENDER}/reservations/${entry.user}/${entry.id}`
      recordFind(record, entry, known, await call(entry.user, { method: 'GET', path }), isOwners)
    },

    async check(user, units) {
      const reply = await post(user, 'check', { user_id: user, units })
      recordCheck(record, { user, asked: units, allowsPart: false }, reply)
    },
  }
}

/** All that is possible without a total. */
function settlementOf({ user, id }: Entry, total: number | undefined): object {
  return { user_id: user, id, ...(total === undefined ? {} : { total_units: total }) }
}
