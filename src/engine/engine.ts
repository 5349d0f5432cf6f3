import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Cluster, ShardPlacement } from '../db/cluster/topology.ts'
import type { ValueKey } from '../db/webhooks/value-key.ts'
import { type Shard, shardOf } from '../domain/basics/shard.ts'
import type { CountedValue } from '../domain/quotas/quota-settings.ts'
import type { Command, DrawCommand, Outcome } from '../domain/units/command.ts'
import { countedValueOf, type KeyOf } from '../domain/units/value-counter.ts'
import type { Completion } from './completion.ts'
import { type Connections, createConnections } from './connections.ts'
import { createDenialSampler } from './denial-sampler.ts'
import { createLane, DEFAULT_LOCK_TIMEOUT_MS, type EngineLane, enforcementOf, type LaneOptions } from './lane.ts'
import { checkUnmade } from './newcomers.ts'
import { createPrincipals } from './principals.ts'
import { connectTo, connectToLane } from './servers.ts'

/** The maximum number of connections to the database; on a cluster, to each node. */
export const ENGINE_CONNECTIONS = 8
/** The least of a lane, however many lanes a node has: while one batch is written, the next is decided. */
const MIN_LANE_CONNECTIONS = 2

/**
 * Takes commands, gathers them while the previous batches commit, and answers each when its batch is durable. Commands of
 * one principal for one user take effect in the order in which they were submitted; others have no order.
 */
export interface Engine {
  /**
   * Rejects with an `EngineFailure` (failures.ts) if the command is not decided: `Overloaded` when the queue is full or the
   * principal has its share of it, `Closed` after `close`, `Unavailable` when the store cannot decide now.
   */
  submit(command: Command): Promise<Outcome>
  /** Does what `submit` does without a promise, for thousands of calls a second. */
  enqueue(command: Command, completion: Completion<Outcome>): void
  /**
   * Whether the queue has room for a command of the principal. To ask before a request is read makes a refusal cheap; a
   * command may be refused all the same.
   */
  hasRoom(principal: string): boolean
  /** Commands accepted and not yet answered, and what they weigh in bytes. */
  readonly queue: { commands: number; bytes: number }
  /** Whether the database, on a cluster each node, lately had no room on its disk for a batch. */
  readonly isDiskFull: boolean
  /** Accepts no more commands, carries out those accepted, and closes the connections. */
  close(): Promise<void>
}

export interface EngineOptions extends LaneOptions {
  url: string
  /** The cluster to which the URL leads; left out for one PostgreSQL. */
  cluster?: Cluster | undefined
  /** Hashes the recipients and tags that caps count; left out: no such cap was made. */
  valueKey?: Readonly<ValueKey>
  /** False logs no denials. Only to measure what logging them costs. */
  logsDenials?: boolean
  /** The maximum number of batches in flight, each with a connection of its own; default `ENGINE_CONNECTIONS`. */
  connections?: number
  /** The maximum number of commands accepted and not yet answered; default 50,000. */
  queueCommands?: number
  /** The maximum of their bytes; default 64 MiB. */
  queueBytes?: number
}

/**
 * On a cluster there is a lane for each of its shards, so that users of a node that is away delay no others. The bounds of the
 * queue and of memory are shared out among the lanes, the connections to a node among its lanes.
 */
export function createEngine(options: EngineOptions): Engine {
  const { url, cluster, queueCommands = 50_000, queueBytes = 64 * 1024 * 1024 } = options
  const count = cluster?.lanes.length ?? 1
  const shared = {
    keyOf: createKeyOf(options.valueKey ?? { bytes: null }),
    lanes: count,
    queueCommands: Math.floor(queueCommands / count),
    queueBytes: Math.floor(queueBytes / count),
    denialSampler: (options.logsDenials ?? true) ? createDenialSampler() : null,
  }
  const connections = options.connections ?? ENGINE_CONNECTIONS
  const rules = { keyOf: shared.keyOf, enforcement: enforcementOf(options) }
  const unmade = (command: Command) => checkUnmade(options.newcomers, command, options.now(), rules)

  if (cluster === undefined) {
    const principals = createPrincipals()
    const lane = createLane(options, { ...shared, principals, connect: connectTo(url), connections })
    return engineOf([lane], () => lane, unmade)
  }

  const coordinator = connectionsToCoordinator(options, () => principals.forgetAll())
  const principals = createPrincipals(coordinator)
  const ofShard = new Map<Shard, EngineLane>()
  const lanes = cluster.lanes.map(lane => {
    const created = createLane(options, {
      ...shared,
      principals,
      connect: connectToLane(url, lane, cluster),
      connections: Math.max(MIN_LANE_CONNECTIONS, Math.floor(connections / lanesOf(lane.node, cluster))),
    })
    for (const shard of lane.buckets) ofShard.set(shard, created)
    return created
  })
  return engineOf(
    lanes,
    shard => {
      const lane = ofShard.get(shard)
      if (lane === undefined) throw new Error(`no lane has the shard ${shard}`)
      return lane
    },
    unmade,
    coordinator.close,
  )
}

function connectionsToCoordinator(
  { url, log, monotonicMs = () => performance.now(), lockTimeoutMs }: EngineOptions,
  onLost: () => void,
): Connections {
  return createConnections({
    connect: connectTo(url),
    monotonicMs,
    lockTimeoutMs: lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    log,
    onLost,
  })
}

function lanesOf(node: ShardPlacement['node'], { lanes }: Cluster): number {
  return lanes.filter(lane => lane.node === node).length
}

function engineOf(
  lanes: readonly EngineLane[],
  laneOf: (shard: Shard) => EngineLane,
  check: (command: Command) => Promise<Outcome>,
  close: () => Promise<void> = async () => {},
): Engine {
  const enqueue = (command: Command, completion: Completion<Outcome>) => {
    if (Number.isNaN(command.user_id))
      check(command).then(
        outcome => completion.resolve(outcome),
        error => completion.reject(error),
      )
    else laneOf(shardOf(command.user_id)).enqueue(command, completion)
  }
  return {
    enqueue,
    submit: command => new Promise((resolve, reject) => enqueue(command, { resolve, reject })),
    hasRoom: principal => lanes.some(lane => lane.hasRoom(principal)),
    get queue() {
      const sum = (of: (lane: EngineLane) => number) => lanes.reduce((total, lane) => total + of(lane), 0)
      return { commands: sum(lane => lane.queued), bytes: sum(lane => lane.queuedBytes) }
    },
    get isDiskFull() {
      return lanes.every(lane => lane.isDiskFull)
    },
    async close() {
      await Promise.all(lanes.map(lane => lane.close()))
      await close()
    },
  }
}

/** A country is no secret: its hash is the same in every service, and needs no key. */
const KEY_OF_COUNTRIES = createSecretKey('country', 'utf8')

/**
 * What hashes the values that caps count each by itself: the first 63 bits of HMAC-SHA-256 over what the value is, its user, and the value
 * in the form in which it is counted.
 *
 * @param key of the service's own; of null: there is none, and no cap on recipients or tags was made
 */
function createKeyOf(key: Readonly<ValueKey>): KeyOf {
  // Made once: of bytes, each hash would make one, which takes five times as long as the hash.
  let [bytes, secret]: [Uint8Array | null, KeyObject | null] = [null, null]
  const secretNow = () => {
    if (bytes !== key.bytes) [bytes, secret] = [key.bytes, key.bytes && createSecretKey(key.bytes)]
    return secret
  }
  /** A batch that goes again asks again. */
  const known = new WeakMap<DrawCommand, Map<CountedValue, bigint>>()
  return (of, command) => {
    const hashes = known.get(command)
    const hashed = hashes?.get(of)
    if (hashed !== undefined) return hashed
    const value = countedValueOf(of, command)
    if (value === null) return null
    const hash = hashOf(of === 'country' ? KEY_OF_COUNTRIES : secretNow(), of, command.user_id, value)
    known.set(command, (hashes ?? new Map<CountedValue, bigint>()).set(of, hash))
    return hash
  }
}

function hashOf(key: KeyObject | null, of: CountedValue, userId: number, value: string): bigint {
  if (key === null) throw new Error(`the service has no key for caps on each ${of}: SECRETS_KEY is missing`)
  return createHmac('sha256', key).update(`${of}\0${userId}\0${value}`).digest().readBigUInt64BE() >> 1n
}
