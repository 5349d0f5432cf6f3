/** What exists in the service: ids, versions and cursors of its answers. */
import type { Random } from './random.ts'

/** How many of a kind are remembered: the last ones. */
const REMEMBERED = 40

/** Users who send and have quotas, the first most often. Those from `ERASED` on are erased now and then. */
const USERS = [7, 7, 7, 7, 8, 9, 0]
const ERASED = 100

export interface Knowledge {
  /** Reads an answer to a call of `template`. */
  learn(template: string, answer: unknown): void
  /** A value that exists under the name of a parameter or field; undefined if the name says nothing. */
  valueFor(name: string, template: string): number | string | undefined
}

export function createKnowledge(random: Random): Knowledge {
  const found = new Map<string, (number | string)[]>()

  function remember(kind: string, value: unknown): void {
    if (typeof value !== 'number' && typeof value !== 'string') return
    const values = found.get(kind) ?? []
    if (values.includes(value)) return
    found.set(kind, [...values.slice(1 - REMEMBERED), value])
  }
  function recall(kind: string): number | string | undefined {
    const values = found.get(kind)
    return values === undefined ? undefined : random.pick(values)
  }

  function learn(template: string, answer: unknown): void {
    if (Array.isArray(answer)) {
      for (const item of answer.slice(0, 50)) learn(template, item)
    } else if (typeof answer === 'object' && answer !== null) {
      for (const [name, value] of Object.entries(answer)) {
        const kind = kindOf(name, template)
        if (kind !== null) remember(kind, value)
        if (typeof value === 'string' && value.startsWith('den_')) remember('denial_id', value)
        if (typeof value === 'string' && value.startsWith('evt_')) remember('delivery', value)
        learn(template, value)
      }
    }
  }

  return {
    learn,
    valueFor(name, template) {
      switch (name) {
        case 'user_id':
          return template.includes('/data') || random.percent(5) ? ERASED + random.integer(20) : random.pick(USERS)
        case 'external_ref':
          return `K-${random.integer(20)}`
        case 'subject':
          return random.pick(['1', '7', 'gateway'])
        case 'q':
          return random.pick(['7', 'Monthly', 'K-1', 'm-3'])
        case 'wait_seconds':
          return 0
        case 'to':
          return template.includes('sender') || template.endsWith('/check') ? '+4915112345678' : undefined
        case 'if-match':
          return `"${1 + random.integer(3)}"`
        case 'idempotency-key':
          return `key-${random.integer(1_000)}`
        default: {
          const kind = kindOf(name, template)
          if (kind === 'message') return `m-${random.integer(20)}`
          return kind === null ? undefined : recall(kind)
        }
      }
    },
  }
}

/** An `id` is of the thing of its path; a message's is chosen by the sender, of few. A cursor fits its own list. */
function kindOf(name: string, template: string): string | null {
  if (['quota_id', 'webhook_id', 'plan_id', 'denial_id', 'delivery'].includes(name)) return name
  if (name === 'id') {
    if (/reservation|sender|denials/.test(template)) return 'message'
    const [, things] = /\/(webhooks|plans|pauses|transfers|requests)(?:\/|$)/.exec(template) ?? []
    return things === undefined ? 'quota_id' : `${things.slice(0, -1)}_id`
  }
  return ['cursor', 'next_cursor', 'next', 'after'].includes(name) ? `cursor of ${template}` : null
}
