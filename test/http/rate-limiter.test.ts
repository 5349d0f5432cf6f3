import { describe, expect, test } from 'vitest'
import { clientOf, networkOf } from '../../src/http/platform/client-address.ts'
import { createRateLimiter, createRoom } from '../../src/http/platform/rate-limiter.ts'

describe('a rate limiter', () => {
  function limiterOf(perMinute: number, maxClients?: number) {
    const clock = { now: 5_000 }
    const limiter = createRateLimiter({
      perMinute,
      now: () => clock.now,
      ...(maxClients === undefined ? {} : { maxClients }),
    })
    return { clock, ...limiter }
  }

  test('admits as many calls as a minute has at once, and tells when the next may come', () => {
    const { clock, take, waitOf } = limiterOf(4)
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 0])
    expect([waitOf('a'), take('a'), take('a')]).toEqual([15_000, 15_000, 15_000])
    clock.now += 14_999
    expect(take('a')).toBe(1)
    clock.now += 1
    expect([take('a'), take('a')]).toEqual([0, 15_000])
  })

  test('admits the limit in every minute of a client that always calls', () => {
    const { clock, take } = limiterOf(60)
    let admitted = 0
    for (let ms = 0; ms < 600_000; ms += 100) {
      if (take('a') === 0) admitted += 1
      clock.now += 100
    }
    // The first minute's are admitted at once, and then one a second.
    expect(admitted).toBe(60 + 600 - 1)
  })

  test('can admit fewer at once than in a minute', () => {
    const clock = { now: 0 }
    const { take } = createRateLimiter({ perMinute: 600, burstMs: 500, now: () => clock.now })
    expect([1, 2, 3, 4, 5, 6].map(() => take('a'))).toEqual([0, 0, 0, 0, 0, 100])
    clock.now += 100
    expect([take('a'), take('a')]).toEqual([0, 100])
  })

  test('lets a client wait until calls that were charged are paid off', () => {
    const { clock, take, waitOf, charge } = limiterOf(60)
    charge('a', 90)
    expect([take('a'), waitOf('b')]).toEqual([31_000, 0])
    clock.now += 31_000
    expect([take('a'), take('a')]).toEqual([0, 1_000])
    const unlimited = limiterOf(0)
    unlimited.charge('a', 1_000)
    expect(unlimited.take('a')).toBe(0)
  })

  test('admits no more than the limit in an hour, however many calls are charged and however many others call', () => {
    const clock = { now: 0 }
    const { take, charge } = createRateLimiter({ perMinute: 60, burstMs: 1_000, maxClients: 10, now: () => clock.now })
    let operations = 0
    for (; clock.now < 3_600_000; clock.now += 10_000) {
      for (let n = 0; n < 40; n++) take(`other ${clock.now} ${n}`)
      if (take('a') > 0) continue
      charge('a', 999)
      operations += 1_000
    }
    expect(operations).toBe(4_000)
  })

  test('keeps what is charged while no other client calls', () => {
    const { clock, take, charge } = limiterOf(60)
    charge('a', 600)
    clock.now += 300_000
    charge('b', 1)
    clock.now += 120_000
    charge('b', 1)
    expect(take('a')).toBe(600_000 - 420_000 - 60_000 + 1_000)
  })

  test('says when a client has room for several calls', () => {
    const { clock, take, waitOf } = limiterOf(60)
    for (let n = 0; n < 40; n++) take('a')
    expect([waitOf('a', 20), waitOf('a', 30), waitOf('b', 30)]).toEqual([0, 10_000, 0])
    clock.now += 10_000
    expect(waitOf('a', 30)).toBe(0)
  })

  test.each([1, 7, 6_000, 999_983])('admits exactly the limit of %i at once, at any time', perMinute => {
    for (const at of [0.1, 5_000.123456789, 88_888_888.77777]) {
      const { clock, take } = limiterOf(perMinute)
      clock.now = at
      for (let n = 0; n < perMinute; n++) if (take('a') !== 0) throw new Error(`call ${n} was refused`)
      expect(take('a')).toBeGreaterThan(0)
    }
  })

  test('counts each client for itself, and with the limit 0 none', () => {
    const { take, waitOf } = limiterOf(1)
    expect([take('a'), take('b'), waitOf('c')]).toEqual([0, 0, 0])
    expect([take('a'), take('b')]).toEqual([60_000, 60_000])
    const unlimited = limiterOf(0)
    expect([1, 2, 3].map(() => unlimited.take('a'))).toEqual([0, 0, 0])
  })

  test('remembers a client for a minute at least', () => {
    const { clock, take } = limiterOf(2)
    take('a')
    clock.now += 59_000
    take('a')
    take('a')
    clock.now += 10_000
    take('b')
    expect(take('a')).toBe(20_000)
    clock.now += 20_000
    expect(take('a')).toBe(0)
  })

  test('forgets those that came first when there are too many', () => {
    const { take } = limiterOf(1, 10)
    for (let n = 0; n < 30; n++) expect(take(`client ${n}`)).toBe(0)
    const forgotten = Array.from({ length: 30 }, (_, n) => take(`client ${n}`)).filter(waitMs => waitMs === 0)
    expect(forgotten.length).toBeGreaterThan(0)
    expect(take('client 29')).toBe(60_000)
  })
})

test('room is taken by each thing once a minute', () => {
  let now = 0
  const room = createRoom(2, () => now)
  expect(['a', 'a', 'b', 'a', 'c', undefined].map(thing => room.take(thing))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ])
  expect(['a', 'b', 'c'].map(thing => room.has(thing))).toEqual([true, true, false])
  now = 60_000
  expect(['c', 'd', 'a'].map(thing => room.take(thing))).toEqual([true, true, false])
})

test.each([1, 100, 1_000, 61_000])('no minute has more than there is room for, with a try each %i ms', everyMs => {
  let now = 0
  const room = createRoom(600, () => now)
  const times: number[] = []
  for (let tries = 0; tries < 2_000; tries++, now += everyMs) if (room.take()) times.push(now)
  for (const [index, time] of times.entries())
    expect(time - (times[index - 600] ?? -60_000)).toBeGreaterThanOrEqual(60_000)
  expect(times.length).toBe(everyMs >= 100 ? 2_000 : 600)
})

test.each([
  ['192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64', '1:2:3::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
  ['::ffff:c000:207', '192.0.2.7', '192.0.2.0/24'],
  ['0:0:0:0:0:FFFF:192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
  ['1:2:3:4:5:6:192.0.2.7', '1:2:3:4::/64', '1:2:3::/48'],
])('the address %s is counted as %s and belongs to %s', (address, client, network) => {
  expect([clientOf(address), networkOf(address)]).toEqual([client, network])
})
