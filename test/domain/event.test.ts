import { expect, test } from 'vitest'
import { SHARDS } from '../../src/domain/basics/shard.ts'
import { eventIdOf, eventKeyOf } from '../../src/domain/events/event.ts'

test.each([1, Number.MAX_SAFE_INTEGER])('an event id names every shard and number %i', number => {
  const keys = SHARDS.map(shard => ({ shard, number }))
  expect(keys.map(eventIdOf).map(eventKeyOf)).toEqual(keys)
})

test.each([
  'evt_64_1',
  'evt_99_1',
  'evt_100_1',
  'evt_01_1',
  'evt_1_0',
  'evt_1_01',
  'evt_1_9007199254740992',
  'evt_1_10000000000000000',
  'evt_1',
  'evt__1',
  'evt_1_1 ',
  '',
])('no event has the id "%s"', id => {
  expect(eventKeyOf(id)).toBeUndefined()
})
