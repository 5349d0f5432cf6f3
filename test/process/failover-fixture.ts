/** A service, with its event feed and webhooks, on a database that is restarted and fails over. */
import { expect } from 'vitest'
import type { Dispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { startFailover } from '../support/failover.ts'
import { startService } from '../support/service.ts'

export const EVENTS = '/api/sms/admin/events'

export const page = (...quotas: number[]) => ({
  status: 200,
  body: { items: quotas.map(id => ({ data: { quota: { id } } })) },
})
export const LOST = { status: 410, body: { code: 'events_lost' } }

/** Call this where tests are declared. */
export async function startFailoverService() {
  const server = await startFailover()
  const service = await startService({ env: { DATABASE_URL: server.url }, webhooks: { allowPrivate: true } })
  const { call, clock, db } = service

  /** Calls until the database is there again. */
  async function persist(...request: Parameters<typeof call>) {
    for (;;) {
      const answer = await call(...request)
      if (answer.status !== 503) return answer
    }
  }

  const read = (query: string) => persist('GET', `${EVENTS}?${query}`)

  return {
    ...service,
    server,
    read,
    latest: async (): Promise<string> => (await read('after=latest')).body.next,

    /** Whether the connections of before have all been replaced. */
    async reachable(): Promise<boolean> {
      try {
        await Promise.all(Array.from({ length: 10 }, () => db.ping()))
        return true
      } catch {
        return false
      }
    },

    /** Emits an event of a user. Resolves to its quota. */
    async emit(user: number): Promise<number> {
      clock.now += 1_000
      const { status, body } = await persist('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 10 } })
      expect(status).toBe(201)
      return body.id
    },

    async createHook(url: string): Promise<number> {
      const { status, body } = await persist('POST', '/api/sms/admin/webhooks', { body: { url } })
      expect(status).toBe(201)
      return body.id
    },

    async dispatch(dispatcher: Dispatcher): Promise<void> {
      await dispatcher.dispatchOnce(clock.now)
      await dispatcher.idle()
    },

    async failOver(): Promise<void> {
      await server.replaceByStandby()
      await server.promote()
    },
  }
}
