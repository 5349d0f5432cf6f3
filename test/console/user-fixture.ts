import { expect } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import type { Site } from '../support/browser.ts'

/** Days with usage, including today. */
export const DAYS = 90

export interface BusyUser {
  userId: number
  /** Quota ids by name. */
  quotas: Readonly<Record<'Monthly package' | 'Codes to Germany and Austria' | 'Daily ceiling', number>>
}

/**
 * Creates a user with commits, refunds and denials on each of the last days, through the API; the clock ends at noon of the
 * last of 90. One of all days has 23 hours.
 */
export async function startBusyUser(site: Site, userId: number, days = DAYS): Promise<BusyUser> {
  site.clock.now += (DAYS - days) * DAY_MS
  const allow = async (body: object) => {
    const answer = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: userId, ...body } })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body.id as number
  }
  const quotas = {
    'Monthly package': await allow({
      name: 'Monthly package',
      limit: 4_000,
      period: 'month',
      time_zone: 'Europe/Berlin',
      rollover_limit: 500,
    }),
    'Codes to Germany and Austria': await allow({
      name: 'Codes to Germany and Austria',
      limit: 50_000,
      countries: ['DE', 'AT'],
      message_types: ['otp'],
      priority: 10,
      expires_at: '2027-01-01T00:00:00Z',
    }),
    'Daily ceiling': await allow({
      name: 'Daily ceiling',
      kind: 'cap',
      limit: 400,
      period: 'day',
      time_zone: 'Europe/Berlin',
    }),
  }
  for (let day = DAYS - days; day < DAYS; day++) {
    if (day > DAYS - days) site.clock.now += DAY_MS
    await send(site, userId, day)
  }
  return { userId, quotas }
}

/** Sends the messages of a day: more on weekdays, and a denied campaign on every tenth day. */
async function send(site: Site, userId: number, day: number): Promise<void> {
  const isBusy = day % 7 < 5
  const consume = (name: string, units: number, what: object) => ({
    op: 'consume',
    user_id: userId,
    id: `${name}-${day}`,
    units,
    ...what,
  })
  const operations = [
    consume('code', isBusy ? 60 : 20, { country: 'DE', message_type: 'otp' }),
    consume('offer', isBusy ? 40 : 5, { country: 'FR', message_type: 'marketing' }),
    consume('notice', 10, { country: 'AT' }),
    consume('other', 3 + (day % 4), {}),
    ...(day % 10 === 0 ? [consume('campaign', 5_000, { country: 'FR' })] : []),
    { op: 'refund', user_id: userId, id: `notice-${day}`, total_units: 2 },
    { op: 'feedback', user_id: userId, id: `code-${day}`, verified: true },
    ...(day === DAYS - 1
      ? [{ op: 'reserve', user_id: userId, id: 'waiting', units: 25, country: 'CH', ttl_seconds: 3_600 }]
      : []),
  ]
  const answer = await site.call('POST', '/api/sms/sender/quota/batch', {
    token: site.senderToken,
    body: { operations },
  })
  expect(answer.status).toBe(200)
  expect(answer.body.results.map((result: { status: number }) => result.status)).toEqual(operations.map(() => 200))
}
