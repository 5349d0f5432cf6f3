/** An engine with several lanes. The nodes are ways to one PostgreSQL here, each of which can be cut. */
import { expect, test } from 'vitest'
import type { Cluster, ShardPlacement } from '../../src/db/cluster/topology.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { SHARDS, type Shard, shardOf } from '../../src/domain/basics/shard.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import type { EngineOptions } from '../../src/engine/engine.ts'
import { DEFAULT_GIVE_UP_MS } from '../../src/engine/lane.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { createBench, reserve, settle } from '../support/engine.ts'
import { createNetwork, type Network } from '../support/network.ts'

const bench = await createBench(databaseOfOnePostgres())
const { url } = bench
const [one, other] = [await createNetwork(url), await createNetwork(url)]
const home = await createNetwork(url)

function laneTo(network: Network, buckets: readonly Shard[]): ShardPlacement {
  const { host, hostname, port } = new URL(network.url)
  return { node: host, host: hostname, port: Number(port), buckets, tables: {}, shardId: null }
}

const isEven = (shard: Shard) => shard % 2 === 0
const EVEN = SHARDS.filter(isEven)
const ODD = SHARDS.filter(shard => !isEven(shard))

/** The lane of the odd buckets is found where it is now. */
function cluster(nodeOfOdd: () => Network = () => other): Cluster {
  const lanes = () => [laneTo(one, EVEN), laneTo(nodeOfOdd(), ODD)]
  return { lanes: lanes(), findPlacements: async () => lanes() }
}

/** An engine that soon rejects what it cannot decide. */
const hasty = (options: Partial<EngineOptions> = {}) => bench.engine({ cluster: cluster(), giveUpMs: 300, ...options })

/** Users with a quota each, of both lanes. */
async function usersOfBoth(first: number): Promise<number[]> {
  const users = Array.from({ length: 40 }, (_, index) => first + index)
  for (const user_id of users) await bench.quota({ user_id, limit: 1 })
  return users
}

test('users of all lanes are served, each from the own quota', async () => {
  const engine = bench.engine({ cluster: cluster() })
  const users = await usersOfBoth(100)
  const answers = await Promise.all(users.map(user => engine.submit(reserve(user, 'm1', 1))))
  expect(answers.map(({ outcome }) => outcome)).toEqual(users.map(() => 'granted'))
  const more = await Promise.all(users.map(user => engine.submit(reserve(user, 'm2', 1))))
  expect(more.map(({ outcome }) => outcome)).toEqual(users.map(() => 'denied'))
  const settled = await Promise.all(users.map(user => engine.submit(settle('commit', user, 'm1'))))
  expect(settled.map(({ outcome }) => outcome)).toEqual(users.map(() => 'settled'))
  expect(engine.queue).toEqual({ commands: 0, bytes: 0 })
  expect(engine.hasRoom('anyone')).toBe(true)
})

test('users of a node that is away are answered in the end, and delay no others', async () => {
  // Shorter than the senders' timeout. Here it is shorter still.
  expect(DEFAULT_GIVE_UP_MS).toBe(4_000)
  const engine = hasty()
  const users = await usersOfBoth(200)
  other.cut()
  const unavailable: Promise<unknown>[] = []
  for (const user of users) {
    const answer = engine.submit(reserve(user, 'm1', 1))
    if (isEven(shardOf(user))) expect(await answer).toMatchObject({ outcome: 'granted' })
    else unavailable.push(expect(answer).rejects.toBeInstanceOf(Unavailable))
  }
  expect(unavailable.length).toBeGreaterThan(0)
  await Promise.all(unavailable)
  other.restore()
  for (const user of users.filter(user => !isEven(shardOf(user)))) {
    expect(await engine.submit(reserve(user, 'm1', 1))).toMatchObject({ outcome: 'granted', replayed: false })
  }
})

test('while the coordinator is away, principals are found at the nodes, and new ones wait for it', async () => {
  const engine = hasty({ url: home.url })
  const users = await usersOfBoth(400)
  const ask = (user: number, id: string, principal: string) =>
    engine.submit(reserve(user, id, 1, { origin: { principal, requestId: id } }))
  expect(await ask(users[0] ?? 0, 'm1', 'one')).toMatchObject({ outcome: 'granted' })
  home.cut()
  // Every user's, because the engine forgets principals with the connection.
  for (const user of users.slice(1)) expect(await ask(user, 'm1', 'one')).toMatchObject({ outcome: 'granted' })
  await expect(ask(users[1] ?? 0, 'm2', 'another')).rejects.toBeInstanceOf(Unavailable)
  home.restore()
  expect(await ask(users[1] ?? 0, 'm2', 'another')).toMatchObject({ outcome: 'denied' })
  const rows = await bench.db.query({
    text: sql`select subject, count(*) as reservations from reservation join principal p on p.id = made_by group by 1`,
  })
  expect(rows).toEqual([{ subject: 'one', reservations: users.length }])
})

test('a lane that has moved is found at its new node', async () => {
  let node = other
  const engine = hasty({ cluster: cluster(() => node) })
  const [user = 0] = (await usersOfBoth(300)).filter(one => !isEven(shardOf(one)))
  other.cut()
  await expect(engine.submit(reserve(user, 'm1', 1))).rejects.toBeInstanceOf(Unavailable)
  node = one
  expect(await engine.submit(reserve(user, 'm1', 1))).toMatchObject({ outcome: 'granted' })
  other.restore()
})

test('the disk counts as full while no lane had room, for ten seconds after its last batch', async () => {
  let passed = 0
  const engine = hasty({ monotonicMs: () => performance.now() + passed })
  const [even = 0, odd = 0] = [isEven, (shard: Shard) => !isEven(shard)].map(isOf =>
    [600, 601, 602, 603, 604, 605, 606, 607].find(user => isOf(shardOf(user))),
  )
  for (const user_id of [even, odd]) await bench.quota({ user_id, limit: 1 })
  await bench.db.query({
    text: sql`create function no_room() returns trigger language plpgsql as
        $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$;
      create trigger no_room before insert on reservation for each row execute function no_room()`,
  })
  for (const user of [even, odd]) {
    expect(engine.isDiskFull).toBe(false)
    await expect(engine.submit(reserve(user, 'm1', 1))).rejects.toBeInstanceOf(Unavailable)
  }
  expect(engine.isDiskFull).toBe(true)
  passed = 11_000
  expect(engine.isDiskFull).toBe(false)
  await bench.db.query({ text: sql`drop trigger no_room on reservation` })
})
