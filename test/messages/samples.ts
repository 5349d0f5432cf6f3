/** An event of each type, as messages show it: made by the functions that emit them. */

import type { EventData } from '../../src/domain/events/event.ts'
import { othersThan } from '../../src/domain/messages/country.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/pauses/breaker.ts'
import { type Pause, pauseViewOf } from '../../src/domain/pauses/pause.ts'
import { type IncreaseRequest, requestViewOf } from '../../src/domain/quotas/increase-request.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { viewOf } from '../../src/domain/units/view.ts'
import type { MessageType } from '../../src/messages/facts.ts'
import type { MessageContext, MessageEvent } from '../../src/messages/message.ts'
import { aQuota } from '../domain/fixture.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
export const USER = 7

export const CONTEXT: MessageContext = {
  language: 'en',
  webhookId: 64,
  isDigest: false,
  publicUrl: 'https://sms.example.com',
  names: new Map([[USER, { user_ref: 'acme-de', user_name: 'Acme GmbH' }]]),
}

const quotaWith = (fields: Partial<Quota>) =>
  viewOf(
    aQuota({
      id: 128,
      user_id: USER,
      name: 'Monthly package',
      limit: 1_000,
      used: 800,
      period: 'month',
      time_zone: 'Europe/Berlin',
      window_start: Date.parse('2026-02-28T23:00:00.000Z'),
      window_end: Date.parse('2026-03-31T22:00:00.000Z'),
      ...fields,
    }),
    NOW,
  )

const CODES = [{ start: NOW - 60_000, end: NOW, sent: 30, verified: 0 }]

const PAUSE: Pause = {
  id: 192,
  user_id: USER,
  country: 'FR',
  message_types: ['otp'],
  until: NOW + 3_600_000,
  reason: 'Pumped codes',
  origin: 'person',
  evidence: null,
  observed: false,
  created_at: NOW,
  created_by: 'ada',
  lifted_at: null,
  lifted_by: null,
}
const tripped = (observed: boolean): EventData['breaker.tripped'] => ({
  pause: pauseViewOf(
    {
      ...PAUSE,
      origin: 'breaker',
      reason: null,
      evidence: judge(measure(CODES, NOW), { day: 0, quarter: 0 }, DEFAULT_BUDGETS) ?? null,
      observed,
    },
    NOW,
  ),
})

const expired = (released: number, committed: number): EventData['reservation.expired'] => ({
  // Senders may take the number that a message goes to for its id: no message shows it.
  reservation: {
    ...{ id: '33612345678', user_id: USER, state: 'expired', units: 5, committed: 0, released: 5, refunded: 0 },
    ...{ segments: null, rate: null, unfunded: 0, verified: false, draws: [], expires_at: null },
  },
  released,
  committed,
})

const quota = quotaWith({})
const transfer = { id: 3, units: 50, returned: 0, reason: 'a branch', expires_at: null }
const transferData: EventData['transfer.made'] = { transfer, units: 50, direction: 'out', quota }
const webhook = { id: 256, description: 'Billing', disabled_reason: 'failing' as const }

const REQUEST: IncreaseRequest = {
  ...{ id: 320, user_id: USER, quota_id: 128, units: 500, until: NOW + 86_400_000, reason: 'Campaign', status: 'open' },
  ...{ created_at: NOW, decided_at: null, decided_by: null, note: null },
  ...{ granted_units: null, granted_until: null, granted_quota_id: null },
}
const decided = (fields: Partial<IncreaseRequest>) => ({
  request: requestViewOf({ ...REQUEST, decided_at: NOW, decided_by: 'ada', ...fields }),
})

/** Samples of each type; the first stands in the reference. */
export const SAMPLES: { [Name in MessageType]: (Name extends keyof EventData ? EventData[Name] : object)[] } = {
  'quota.created': [{ quota }],
  'quota.updated': [{ quota }],
  'quota.deleted': [{ quota }],
  'quota.threshold_reached': [
    { quota, percent: 80, sendable: { units: 1_700, country: null, message_type: null } },
    {
      quota: quotaWith({ used: 1_000, name: null }),
      percent: 100,
      sendable: { units: 0, country: 'FR', message_type: 'otp' },
    },
    {
      quota: quotaWith({ kind: 'cap', name: 'Abroad', countries: [...othersThan(['DE'])] }),
      percent: 80,
      sendable: { units: 20, country: '001', message_type: null },
    },
    {
      quota: quotaWith({ kind: 'cap', countries: ['ES', 'FR'], message_types: ['otp'] }),
      percent: 80,
      sendable: { units: 1, country: 'ES', message_type: 'otp' },
    },
    { quota: quotaWith({ limit: null }), percent: 80, sendable: { units: null, country: null, message_type: null } },
  ],
  'quota.expired': [{ quota }],
  'reservation.expired': [expired(5, 0), expired(0, 1)],
  'transfer.made': [transferData, { ...transferData, direction: 'in' }],
  'transfer.returned': [
    { ...transferData, direction: 'in' },
    { ...transferData, direction: 'out' },
  ],
  'request.made': [{ request: requestViewOf(REQUEST) }],
  'request.decided': [
    decided({
      status: 'approved',
      granted_units: 300,
      granted_until: NOW + 86_400_000,
      granted_quota_id: 384,
      note: 'For now',
    }),
    decided({ status: 'approved', granted_units: 500, until: null, granted_quota_id: 128 }),
    decided({ status: 'declined', note: 'Pay first' }),
    decided({ status: 'withdrawn' }),
  ],
  'pause.made': [{ pause: pauseViewOf(PAUSE, NOW) }],
  'pause.lifted': [{ pause: pauseViewOf({ ...PAUSE, until: null, country: '001' }, NOW) }],
  'breaker.tripped': [tripped(false), tripped(true)],
  'webhook.disabled': [
    { webhook: { ...webhook, failing_since: '2026-03-12T11:30:00.000Z' } },
    { webhook: { ...webhook, disabled_reason: 'gone', description: null, failing_since: null } },
  ],
  'user.erased': [
    { erasure: { user_id: USER, requested_at: '2026-03-15T11:00:00.000Z', finished_at: '2026-03-15T11:01:00.000Z' } },
  ],
  'webhook.test': [{ webhook: { id: 64, description: 'Operations' } }],
}

const SYSTEM: readonly string[] = ['webhook.disabled', 'user.erased', 'webhook.test']

export const eventOf = (type: string, data: object): MessageEvent => ({
  type,
  at: NOW,
  user_id: SYSTEM.includes(type) ? null : USER,
  data,
})
