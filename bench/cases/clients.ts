/**
 * A process that sends with the client library, beside calls by hand and a limiter on Redis, which keeps no record of a
 * message.
 */
import { median } from '../measure.ts'
import { AT_A_TIME, type SendingJob, type Way } from '../sending.ts'
import { installPeers } from '../servers/packages.ts'
import { PROJECT, startServer, startWorker } from '../servers/processes.ts'
import { startRedis } from '../servers/redis.ts'
import { mintFor, PEERS, startTestBed } from '../servers/test-bed.ts'
import { type Bench, type Findings, ratioRow } from './bench.ts'

const MESSAGES = 100_000
const SPENDS = 10_000_000
const AGENT_IS_READY = /(http:\/\/127\.0\.0\.1:\d+)/
const SINGLE = 'a call for each'

export async function clientsCase(bench: Bench): Promise<Findings> {
  const { say, settings, cleanup } = bench
  const { service, secret } = await startTestBed(bench, 'clients')
  const token = await mintFor('sender', secret)
  const redis = await startRedis(cleanup)
  if (redis === null) say(`no redis-server on the PATH: the rows of ${PEERS.redis} are not run`)
  else installPeers()
  const agent = await startServer(`${PROJECT}bin/sms-quota`, {
    args: ['agent', '--listen', '127.0.0.1:0', '--url', service.url],
    env: { SMS_QUOTA_TOKEN: token },
    ready: AGENT_IS_READY,
  })
  cleanup.add(() => agent.stop())
  const worker = startWorker('sending.ts', { flags: bench.flagsFor('sending') })
  cleanup.add(() => worker.stop())

  const rates: Record<Way, number[]> = { single: [], agent: [], coalesced: [], leases: [], redis: [], spends: [] }
  let jobs = 0
  const run = (way: Way, messages: number) => {
    jobs += 1
    const targets: Partial<Record<Way, string>> = { redis: redis?.socket ?? '', agent: agent.readyMatch }
    const target = targets[way] ?? service.url
    return worker.ask<number>({ way, messages, target, token, prefix: `s${jobs}-` } satisfies SendingJob)
  }
  const messages = settings.isQuick ? MESSAGES / 5 : MESSAGES
  const ways: Way[] = ['single', 'agent', 'coalesced', 'leases', ...(redis === null ? [] : (['redis'] as const))]
  say('warming up')
  for (const way of ways) await run(way, messages / 5)
  for (let round = 1; round <= settings.rounds; round++) {
    say(`round ${round}: ${ways.join(', ')}`)
    for (const way of ways) rates[way].push(await run(way, messages))
  }
  say('spends of one lease')
  rates.spends.push(await run('spends', SPENDS))

  const rate = (way: Way) => `${Math.round(median(rates[way])).toLocaleString('en')}/s`
  const row = (way: Way) => {
    const sides = { ours: { perSecond: median(rates[way]) }, theirs: { perSecond: median(rates.single) }, min: 2 }
    return ratioRow(`one process, ${AT_A_TIME} messages at a time: ${way}`, SINGLE, sides)
  }
  const notes = [
    `Single calls through the agent: ${rate('agent')}.`,
    `Spends of one lease, a unit each, in one process: ${rate('spends')}.`,
  ]
  if (redis !== null)
    notes.push(`The same messages by ${PEERS.redis}, which keeps no record of them: ${rate('redis')}.`)
  return { rows: [row('coalesced'), row('leases')], details: [], notes }
}
