import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/domain/quotas/quota.ts'
import { aQuota, at, created } from './fixture.ts'

const NOW = at('2026-01-10 12:00')

const ALL_FAULTS = ['/limit', '/rollover_limit', '/overage_limit', '/expires_at']

describe('createQuota', () => {
  test('fills in defaults', () => {
    expect(created({ limit: 500 }, NOW)).toEqual(
      aQuota({
        limit: 500,
        period: null,
        starts_at: NOW,
        window_start: NOW,
        window_end: null,
        created_at: NOW,
        updated_at: NOW,
      }),
    )
  })

  test('keeps the fields of the draft', () => {
    const draft = {
      kind: 'cap',
      name: 'Otto',
      limit: 3,
      period: 'hour',
      time_zone: 'Asia/Kolkata',
      priority: 0,
      starts_at: at('2026-01-10 11:45'),
      expires_at: at('2026-01-10 12:15'),
      countries: ['DE'],
      message_types: ['otp'],
      alert_at: [50],
      enabled: false,
      external_ref: 'x',
      metadata: { tier: 'gold' },
    } as const
    expect(created(draft, NOW)).toMatchObject(draft)
  })

  const monthly = (starts?: string, expires?: string) => ({
    period: 'month' as const,
    rollover_limit: 1000,
    ...(starts === undefined ? {} : { starts_at: at(starts) }),
    ...(expires === undefined ? {} : { expires_at: at(expires) }),
  })
  const berlin = { period: 'day', time_zone: 'Europe/Berlin', starts_at: at('2020-01-05') } as const
  // The draft, and the start and end of the first window.
  test.each<[string, Parameters<typeof created>[0], string, string | null]>([
    ['a start now cuts the first window short', monthly(), '2026-01-10 12:00', '2026-02-01'],
    ['a start within the current window cuts it short, too', monthly('2026-01-05'), '2026-01-05', '2026-02-01'],
    ['a start long ago opens the current window', monthly('2020-01-05'), '2026-01-01', '2026-02-01'],
    ['a later start opens its own window', monthly('2027-03-05'), '2027-03-05', '2027-04-01'],
    ['a start on a boundary opens a whole window', monthly('2027-03-01'), '2027-03-01', '2027-04-01'],
    ['windows follow the calendar of the zone', berlin, '2026-01-09 23:00', '2026-01-10 23:00'],
    ['an expired quota is in its last window', monthly('2020-01-05', '2020-05-05'), '2020-05-01', '2020-06-01'],
    [
      'an expired quota is in its last window, if it expired at a boundary',
      monthly('2020-01-05', '2020-05-01'),
      '2020-04-01',
      '2020-05-01',
    ],
    [
      'an expired quota is in its last window, if it lasted a minute',
      monthly('2020-01-05', '2020-01-05 00:01'),
      '2020-01-05',
      '2020-02-01',
    ],
    ['a later expiry ends no window', monthly('2026-01-10', '2026-01-20'), '2026-01-10', '2026-02-01'],
    ['a single window begins with the quota', { starts_at: at('2020-01-05') }, '2020-01-05', null],
    ['a single window can begin later', { starts_at: at('2027-01-05') }, '2027-01-05', null],
  ])('%s', (_, draft, start, end) => {
    expect(created(draft, NOW)).toMatchObject({
      window_no: 0,
      window_start: at(start),
      window_end: end === null ? null : at(end),
      used: 0,
      reserved: 0,
      rolled_over: 0,
    })
  })

  test.each<[string, Parameters<typeof created>[0], string[]]>([
    ['a cap without a limit', { kind: 'cap', limit: null }, ['/limit']],
    ['a cap that rolls over', { kind: 'cap', period: 'day', rollover_limit: 1 }, ['/rollover_limit']],
    ['rollover of an unlimited grant', { limit: null, period: 'day', rollover_limit: 1 }, ['/rollover_limit']],
    ['rollover of a single window', { rollover_limit: 1 }, ['/rollover_limit']],
    ['overage of a cap', { kind: 'cap', overage_limit: 1 }, ['/overage_limit']],
    ['overage of an unlimited grant', { limit: null, overage_limit: 1 }, ['/overage_limit']],
    ['an expiry at the start', { starts_at: NOW, expires_at: NOW }, ['/expires_at']],
    ['an expiry before the start', { starts_at: NOW, expires_at: NOW - 1 }, ['/expires_at']],
    ['an expiry before the default start', { expires_at: NOW - 1 }, ['/expires_at']],
    ['all at once', { kind: 'cap', limit: null, rollover_limit: 1, overage_limit: 1, expires_at: 0 }, ALL_FAULTS],
  ])('refuses %s', (_, draft, paths) => {
    const made = createQuota({ user_id: 7, limit: 100, ...draft }, { id: 64, now: NOW, actor: 'ada' })
    expect('issues' in made && made.issues.map(issue => issue.path)).toEqual(paths)
  })

  test.each<[string, Parameters<typeof created>[0]]>([
    ['an unlimited grant', { limit: null, period: 'day' }],
    ['a grant with limit 0', { limit: 0 }],
    ['a cap with limit 0', { kind: 'cap', limit: 0 }],
    ['rollover and overage of a recurring grant', { period: 'day', rollover_limit: 1, overage_limit: 1 }],
    ['overage of a single window', { overage_limit: 1 }],
    ['an expiry a millisecond after the start', { starts_at: NOW, expires_at: NOW + 1 }],
  ])('accepts %s', (_, draft) => {
    expect(created(draft, NOW)).toMatchObject(draft)
  })
})
