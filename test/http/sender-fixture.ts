import { expect } from 'vitest'
import { type Answer, type Service, startService } from '../support/service.ts'

export const SENDER = '/api/sms/sender/quota'

export interface SenderService extends Service {
  /** Calls an operation, as the sender. */
  ask(op: string, body: unknown): Promise<Answer>
  /** Creates a quota as the administrator. Returns its id. */
  allow(body: object): Promise<number>
  /** A new user id. */
  someone(): number
  /** Used and reserved units of a quota. */
  counters(quotaId: number): Promise<[used: number, reserved: number]>
}

export async function startSender(options: Parameters<typeof startService>[0] = {}): Promise<SenderService> {
  const service = await startService(options)
  let lastUser = 100
  return {
    ...service,
    ask: (op, body) => service.call('POST', `${SENDER}/${op}`, { token: service.senderToken, body }),
    async allow(body) {
      const answer = await service.call('POST', '/api/sms/admin/quota', { body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
      return answer.body.id
    },
    someone() {
      lastUser += 1
      return lastUser
    },
    async counters(quotaId) {
      const { body } = await service.call('GET', `/api/sms/admin/quota/${quotaId}`)
      return [body.used, body.reserved]
    },
  }
}
