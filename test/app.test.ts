import { SignJWT } from 'jose'
import pino from 'pino'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { DAY_MS } from '../src/domain/time.ts'
import { freshDatabase } from './support/database.ts'

const SECRET = 'a secret for tests only, long enough for HS256'

test('while the clock is in doubt nothing is served, and once the database confirms it everything is', async () => {
  const { url } = await freshDatabase()
  const loaded = loadConfig({ AUTH_SECRET: SECRET, DATABASE_URL: url })
  if ('issues' in loaded) throw new Error('the configuration is wrong')
  let jump = 0
  const machine = { monotonic: () => performance.now(), system: () => Date.now() + jump }
  const app = await createApp(loaded.config, pino({ level: 'silent' }), { runJobs: false, machine })
  afterAll(() => app.close())
  const claims = { sub: '7', roles: ['sms-quota:sender'], exp: Math.floor(Date.now() / 1000) + 3_600 }
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET))
  const call = (method: 'GET' | 'POST', path: string, payload?: object) =>
    app.server.inject({
      method,
      url: path,
      headers: { authorization: `Bearer ${token}` },
      ...(payload === undefined ? {} : { payload }),
    })
  const consume = () => call('POST', '/api/sms/sender/quota/consume', { user_id: 7, id: 'm', units: 1 })

  expect((await consume()).statusCode).toBe(200)
  jump = DAY_MS
  for (const answer of [await consume(), await call('GET', '/api/sms/quota/summary')]) {
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()).toMatchObject({ code: 'unavailable' })
  }
  expect((await call('GET', '/readyz')).statusCode).toBe(200)
  expect((await consume()).statusCode).toBe(200)
  expect((await call('GET', '/api/sms/quota/summary')).statusCode).toBe(200)
})
