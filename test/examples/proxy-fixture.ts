import { expect } from 'vitest'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { startExample, startGate } from '../support/example.ts'
import { startService } from '../support/service.ts'

/** The proxy of an example, before the gateway that `env` names. User 7 sends as alice, with a grant of `limit` units, and user 8 as bob. */
export async function startProxy(example: string, limit: number, env: Record<string, string>) {
  const { app, call, senderToken, clock, db, engine } = await startService()
  const gate = await startGate(await app.listen({ port: 0, host: '127.0.0.1' }))
  const line = await startExample(example, 'proxy.ts', {
    PORT: '0',
    USERS: '{"alice":7,"bob":8}',
    DLR_SECRET: 'a secret for tests only, long enough to sign',
    SMS_QUOTA_URL: gate.url,
    SMS_QUOTA_TOKEN: senderToken,
    ...env,
  })
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit, period: 'month' } })

  async function counters(): Promise<object> {
    const { body } = await call('GET', '/api/sms/admin/quota/summary?user_id=7')
    return { used: body.used, reserved: body.reserved, remaining: body.remaining }
  }

  /** Expects that a message that is not passed on, since the answer of sms-quota is lost, costs nothing. */
  async function expectLostIsFree(send: () => Promise<[status: number, text: string]>, passedOn: readonly unknown[]) {
    const [before, passed] = [await counters(), passedOn.length]
    gate.losses = Number.POSITIVE_INFINITY
    expect((await send())[0]).toBe(503)
    gate.losses = 0
    expect(passedOn.length).toBe(passed)
    // Longer than any reservation of the proxy.
    clock.now += 4 * 86_400_000
    const log = { info() {}, warn() {}, error() {} }
    const sweeper = createSweeper({ db, engine, now: () => clock.now, log })
    while ((await sweeper.sweepOnce(clock.now)).pending !== 'none');
    expect(await counters()).toEqual(before)
  }

  return { call, counters, expectLostIsFree, proxy: line.replace('the proxy is at ', '') }
}
