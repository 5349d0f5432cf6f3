/**
 * A peer that does the service's job on Redis: a script per call looks the message up, checks the grant and the cap of its
 * user, and keeps the reservation until it is committed or expires. A repeated call gets the first answer. No windows, no
 * events and no usage.
 */
import { ioredis } from '../servers/packages.ts'
import type { Peer } from './http.ts'

/** More units than any run draws. */
const LIMIT = 1_000_000_000_000
const TTL_MS = 300_000
const SWEEP_INTERVAL_MS = 1_000
const SWEEP_MAX = 1_000
/** Reservations with outstanding units, by the time of their expiry. */
const EXPIRY = 'expiry'

const FILL = `
for user = 1, tonumber(ARGV[1]) do
  redis.call('HSET', 'user:' .. user,
    'limit', ARGV[2], 'used', 0, 'reserved', 0, 'cap', ARGV[2], 'cap_used', 0, 'cap_reserved', 0)
end
return 0`

/** Keys: user, message, expiry. Arguments: units, time of expiry, name of the message. Returns granted, remaining. */
const RESERVE = `
local known = redis.call('HMGET', KEYS[2], 'units', 'remaining')
if known[1] then return {1, tonumber(known[2])} end
local units = tonumber(ARGV[1])
local user = redis.call('HMGET', KEYS[1], 'limit', 'used', 'reserved', 'cap', 'cap_used', 'cap_reserved')
if not user[1] then return {0, 0} end
local left = math.min(user[1] - user[2] - user[3], user[4] - user[5] - user[6])
if left < units then return {0, left} end
redis.call('HSET', KEYS[1], 'reserved', user[3] + units, 'cap_reserved', user[6] + units)
redis.call('HSET', KEYS[2], 'state', 'reserved', 'units', units, 'remaining', left - units, 'expires', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[3])
return {1, left - units}`

/** Keys: user, message, expiry. Arguments: name of the message. Returns its units, or −1 if it cannot be committed. */
const COMMIT = `
local known = redis.call('HMGET', KEYS[2], 'state', 'units')
if not known[1] or known[1] == 'expired' then return -1 end
local units = tonumber(known[2])
if known[1] == 'committed' then return units end
local user = redis.call('HMGET', KEYS[1], 'used', 'reserved', 'cap_used', 'cap_reserved')
redis.call('HSET', KEYS[1], 'used', user[1] + units, 'reserved', user[2] - units,
  'cap_used', user[3] + units, 'cap_reserved', user[4] - units)
redis.call('HSET', KEYS[2], 'state', 'committed')
redis.call('ZREM', KEYS[3], ARGV[1])
return units`

/** Keys: expiry. Arguments: the time, how many at most. Releases reservations that are due. */
const SWEEP = `
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, name in ipairs(due) do
  local user = 'user:' .. string.match(name, '^(%d+):')
  local units = tonumber(redis.call('HGET', 'message:' .. name, 'units'))
  redis.call('HINCRBY', user, 'reserved', -units)
  redis.call('HINCRBY', user, 'cap_reserved', -units)
  redis.call('HSET', 'message:' .. name, 'state', 'expired')
  redis.call('ZREM', KEYS[1], name)
end
return #due`

/** Fills an empty Redis with users 1…users, each with a grant and a cap. */
export async function redisLedger(socket: string, users: number): Promise<Peer> {
  const client = new (ioredis().Redis)({ path: socket })
  const [fill, reserve, commit, sweep] = await Promise.all(
    [FILL, RESERVE, COMMIT, SWEEP].map(lua => client.script('LOAD', lua)),
  )
  if (fill === undefined || reserve === undefined || commit === undefined || sweep === undefined)
    throw new Error('the scripts were not loaded')
  await client.evalsha(fill, 0, users, LIMIT)
  setInterval(() => client.evalsha(sweep, 1, EXPIRY, Date.now(), SWEEP_MAX), SWEEP_INTERVAL_MS)
  const keysOf = (userId: number, name: string) => [`user:${userId}`, `message:${name}`, EXPIRY] as const
  return {
    async reserve(userId, id, units) {
      const name = `${userId}:${id}`
      const reply = await client.evalsha(reserve, 3, ...keysOf(userId, name), units, Date.now() + TTL_MS, name)
      if (!isPair(reply)) throw new Error(`Redis answered ${reply}`)
      return { granted: reply[0] === 1, remaining: reply[1] }
    },
    async commit(userId, id) {
      const name = `${userId}:${id}`
      const units = Number(await client.evalsha(commit, 3, ...keysOf(userId, name), name))
      return units < 0 ? null : { units }
    },
  }
}

function isPair(reply: unknown): reply is [number, number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every(part => typeof part === 'number')
}
