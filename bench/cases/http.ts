/** The service over HTTP compared with its peers: ten thousand users, one hot user, batches, and a single connection. */
import { measureRounds, type Sample } from '../measure.ts'
import { FULL_LOAD, PEERS, SERVICE, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, latencyRow, type Row, ratioRow } from './bench.ts'

const BATCHED = 'sms-quota, batches of 100'
const { transaction: TRANSACTION, redis: REDIS, postgres: POSTGRES } = PEERS

export async function httpCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const testBed = await startTestBed(bench, 'http', { peers: ['transaction', 'redis', 'postgres'] })
  const { service, peers } = testBed
  const all = [service, ...peers]

  say('warming up')
  const warmup = { ...FULL_LOAD, users: USERS, warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const target of all) await testBed.candidate(target, warmup).run(0)

  say(`over HTTP, ${USERS.toLocaleString('en')} users`)
  const uniform = await measureRounds(
    [
      ...all.map(target => testBed.candidate(target, { ...FULL_LOAD, users: USERS })),
      testBed.candidate({ ...service, name: BATCHED }, { connections: 16, depth: 2, operations: 100, users: USERS }),
    ],
    settings.rounds,
    say,
  )
  say('over HTTP, one hot user')
  const hot = await measureRounds(
    all.map(target => testBed.candidate(target, { ...FULL_LOAD, users: 1 })),
    settings.rounds,
    say,
  )
  say('over HTTP, one connection')
  const single = await measureRounds(
    [service, ...peers.filter(({ name }) => name === TRANSACTION)].map(target =>
      testBed.candidate(target, { connections: 1, depth: 1, users: USERS, ...settings.lightLoad }),
    ),
    settings.rounds,
    say,
  )
  say('over HTTP, at a fixed rate')
  const rate = Math.round((uniform.get(SERVICE)?.perSecond ?? 0) / 2 / 100) * 100
  const open = await measureRounds(
    [service, ...peers.filter(({ name }) => name === REDIS)].map(target =>
      testBed.candidate(target, { connections: 64, depth: 1, users: USERS, rate, ...settings.lightLoad }),
    ),
    settings.rounds,
    say,
  )

  const latency = (what: string, quantile: 'p50' | 'p99', max: number): Row => {
    const [ours, theirs] = [open.get(SERVICE)?.[quantile], open.get(REDIS)?.[quantile]]
    return latencyRow(`${what}, latency ${quantile}`, REDIS, { ours, theirs, max })
  }
  const versus = (what: string, samples: Map<string, Sample>, peer: string, min: number): Row =>
    ratioRow(what, peer, { ours: samples.get(SERVICE), theirs: samples.get(peer), min })
  return {
    rows: [
      versus('reserve over HTTP, 10k users', uniform, TRANSACTION, 9),
      versus('reserve over HTTP, one hot user', hot, TRANSACTION, 30),
      versus('reserve over HTTP, 10k users', uniform, REDIS, 1),
      versus('reserve over HTTP, one hot user', hot, REDIS, 1.1),
      versus('reserve over HTTP, 10k users', uniform, POSTGRES, 3.5),
      versus('reserve over HTTP, one hot user', hot, POSTGRES, 6),
      ratioRow('batch endpoint, 100 operations per call', `${REDIS}, single calls`, {
        ours: uniform.get(BATCHED),
        theirs: uniform.get(REDIS),
        min: 2.2,
      }),
      latencyRow('one connection, latency p50', TRANSACTION, {
        ours: single.get(SERVICE)?.p50,
        theirs: single.get(TRANSACTION)?.p50,
        max: 0.7,
      }),
      latency('half load, 10k users', 'p50', 1.5),
      latency('half load, 10k users', 'p99', 2),
      ...costRows(uniform.get(SERVICE)),
    ],
    details: [
      ...detailsOf('closed loop, 10k users', uniform),
      ...detailsOf('closed loop, one hot user', hot),
      ...detailsOf('closed loop, one connection', single),
      ...detailsOf(`open loop, ${rate.toLocaleString('en')} calls/s, 10k users`, open),
    ],
    notes: [],
  }
}

/** What a reserve may cost PostgreSQL. */
const GOAL = { cpuMicroseconds: 18, walBytes: 550 }

function costRows(sample: Sample | undefined): Row[] {
  const cost = (what: string, unit: string, value: number | null | undefined, goal: number): Row => ({
    what: `PostgreSQL's ${what} per reserve, 10k users`,
    peer: 'its goal',
    ours: typeof value === 'number' ? `${value.toFixed(value < 100 ? 1 : 0)} ${unit}` : 'unknown',
    theirs: `${goal} ${unit}`,
    ratio: typeof value === 'number' ? value / goal : null,
    goal: '≤ 1×',
    isMet: typeof value === 'number' ? value <= goal : null,
  })
  const cpu = sample?.cpu.postgres
  return [
    cost('CPU', 'µs', typeof cpu === 'number' ? cpu * 1_000 : cpu, GOAL.cpuMicroseconds),
    cost('WAL', 'bytes', sample?.walBytesPerOperation, GOAL.walBytes),
  ]
}
