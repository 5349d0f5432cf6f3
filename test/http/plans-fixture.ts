import { expect } from 'vitest'
import { startService } from '../support/service.ts'

export const PLANS = '/api/sms/admin/plans'

/** A line of the answer to a roll-out. */
export type Line = ReturnType<typeof JSON.parse>

/** A service with what tests of plans do. */
export async function startPlans() {
  const service = await startService()
  const { app, call, adminToken } = service
  let lastUser = 1_000
  let lastKey = 0
  const planOf = (user: number) => `/api/sms/admin/users/${user}/plan`

  async function succeed(method: string, path: string, sent: object, expected = 200) {
    const { status, body } = await call(method, path, { body: sent })
    expect(status, JSON.stringify(body)).toBe(expected)
    return body
  }

  return {
    ...service,
    newUser: () => ++lastUser,
    planOf,
    createPlan: async (...slots: object[]): Promise<number> =>
      (await succeed('POST', PLANS, { name: 'Basic', slots }, 201)).id,
    change: (plan: number, ...slots: object[]) => succeed('PUT', `${PLANS}/${plan}`, { slots }),
    give: (user: number, plan_id: number, more: object = {}) => succeed('PUT', planOf(user), { plan_id, ...more }),

    /** The lines of the answer. */
    async rollOut(plan: number, payload: object, key = `roll-${++lastKey}`): Promise<Line[]> {
      const headers = { authorization: `Bearer ${adminToken}`, 'idempotency-key': key }
      const answer = await app.inject({ method: 'POST', url: `${PLANS}/${plan}/roll-out`, headers, payload })
      expect(answer.statusCode, answer.body).toBe(200)
      const lines = answer.body.trimEnd().split('\n')
      return lines.map(line => JSON.parse(line))
    },
  }
}
