/**
 * Writers that create and change quotas without a pause, record what the service acknowledged, and compare it with what
 * the service has after crashes and restarts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Service } from './process.ts'
import type { Answer } from './service.ts'

type Call = Service['call']

interface Entry {
  /** The quota's external_ref, and the Idempotency-Key of its creation. */
  readonly key: string
  readonly request: { user_id: number; limit: number; external_ref: string }
  /** The last acknowledged state; undefined before the first answer. */
  acknowledged?: Answer['body']
  /** A limit that was sent and not acknowledged. */
  attempted?: number
}

export interface Ledger {
  /** Writes until `stop`, which answers the 503 responses meanwhile. Any other refusal is an error. */
  write(call: Call): { stop(): Promise<Answer[]> }
  /** How many quotas were acknowledged. */
  acknowledged(): number
  /**
   * Fails unless every acknowledged quota exists as acknowledged, and every other one exists at most once. Then repeats
   * the unanswered requests, after which every quota exists once.
   */
  settle(call: Call): Promise<void>
}

const QUOTA = '/api/sms/admin/quota'
const WRITERS = 4
const USERS = 500

export function createLedger(random: () => number): Ledger {
  const entries: Entry[] = []
  const below = (bound: number) => Math.floor(random() * bound)

  async function create(call: Call, entry: Entry): Promise<Answer> {
    const headers = { 'idempotency-key': entry.key }
    const answer = await call('POST', QUOTA, { body: entry.request, headers })
    if (answer.status === 201) entry.acknowledged = answer.body
    return answer
  }

  async function change(call: Call, entry: Entry, limit: number): Promise<Answer> {
    entry.attempted = limit
    const answer = await call('PUT', `${QUOTA}/${entry.acknowledged.id}`, { body: { limit } })
    if (answer.status !== 200) return answer
    entry.acknowledged = answer.body
    delete entry.attempted
    return answer
  }

  /** One write: three of four create a quota, the others change a quota of the same writer. */
  function step(call: Call, own: Entry[]): Promise<Answer> {
    const entry = own[below(own.length * 4)]
    if (entry?.acknowledged !== undefined && entry.attempted === undefined) return change(call, entry, below(1e6))
    const key = `ledger-${entries.length}`
    const added: Entry = { key, request: { user_id: below(USERS), limit: below(1e6), external_ref: key } }
    entries.push(added)
    own.push(added)
    return create(call, added)
  }

  async function everything(call: Call): Promise<Map<string, Answer['body'][]>> {
    const found = new Map<string, Answer['body'][]>()
    let cursor = ''
    do {
      const { status, body } = await call('GET', `${QUOTA}/list?page_size=200${cursor}`)
      expect(status).toBe(200)
      for (const item of body.items) {
        found.set(item.external_ref, [...(found.get(item.external_ref) ?? []), item])
      }
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    return found
  }

  return {
    acknowledged: () => entries.filter(entry => entry.acknowledged !== undefined).length,

    write(call) {
      const refusals: Answer[] = []
      let stopped = false
      async function writer(): Promise<void> {
        const own: Entry[] = []
        while (!stopped) {
          const answer = await step(call, own).catch(() => undefined)
          if (answer !== undefined && answer.status < 300) continue
          if (answer !== undefined) {
            expect(answer, JSON.stringify(answer)).toMatchObject({ status: 503 })
            refusals.push(answer)
          }
          await pause(20)
        }
      }
      const writers = Promise.all(Array.from({ length: WRITERS }, writer))
      // `stop` reports the writers' errors.
      writers.catch(() => {})
      return {
        async stop() {
          stopped = true
          await writers
          return refusals
        },
      }
    },

    async settle(call) {
      const found = await everything(call)
      for (const { key, request, acknowledged, attempted } of entries) {
        const there = found.get(key) ?? []
        if (acknowledged === undefined) {
          expect(there.length, key).toBeLessThanOrEqual(1)
          if (there.length === 1) expect(there[0]).toMatchObject({ ...request, version: 1 })
        } else if (attempted === undefined || there[0]?.version === acknowledged.version) {
          expect(there, key).toEqual([acknowledged])
        } else {
          const { updated_at } = there[0] ?? {}
          const changed = { ...acknowledged, limit: attempted, remaining: attempted, updated_at }
          expect(there, key).toEqual([{ ...changed, version: acknowledged.version + 1 }])
        }
      }
      for (const entry of entries) {
        const { key, acknowledged, attempted } = entry
        const { status, body } =
          acknowledged === undefined
            ? await create(call, entry)
            : attempted === undefined
              ? { status: 200, body: acknowledged }
              : await change(call, entry, attempted)
        expect(status, key).toBeLessThan(300)
        expect(body.id, key).toBe(found.get(key)?.[0]?.id ?? body.id)
      }
      const settled = await everything(call)
      expect(settled.size).toBe(entries.length)
      for (const { key, acknowledged } of entries) expect(settled.get(key), key).toEqual([acknowledged])
    },
  }
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
