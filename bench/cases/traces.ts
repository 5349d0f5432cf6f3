/** The cost of traces: the service without them, with one trace in a hundred, and with all, on a database each. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fillUsers } from '../fill.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService, USERS } from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings } from './bench.ts'

const OFF = 'without traces'
const SIDES = [
  { name: OFF, ratio: null, max: 1 },
  { name: '1 % of traces kept', ratio: '0.01', max: 1.1 },
  { name: 'all traces kept', ratio: '1', max: 2 },
]

export async function tracesCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres, cleanup } = bench
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  cleanup.add(async () => void collector.close())
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  const targets = []
  for (const [index, { name, ratio }] of SIDES.entries()) {
    const { db, url } = await postgres.make(`bench_traces_${index}`)
    await fillUsers(db, USERS, bench.now)
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio ?? '' }
    const service = await startService(bench, url, secret, ratio === null ? {} : traced)
    targets.push({ ...service, name })
  }
  await postgres.checkpoint()
  const load = { ...FULL_LOAD, users: USERS }
  say('warming up')
  for (const target of targets) await candidate(target, { ...load, warmupMs: 5_000 }).run(0)
  say('reserve over HTTP, traced or not')
  const samples = await measureRounds(
    targets.map(target => candidate(target, load)),
    settings.rounds,
    say,
  )
  const costOf = (name: string) => samples.get(name)?.cpu.service
  return {
    rows: SIDES.filter(({ name }) => name !== OFF).map(({ name, max }) =>
      cpuRow(`a reserve over HTTP, ${name}: Node.js`, OFF, { ours: costOf(name), theirs: costOf(OFF), max }),
    ),
    details: detailsOf('closed loop, 10k users', samples),
    notes: [],
  }
}
