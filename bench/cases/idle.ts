/** Shows what the service and its database cost while no call comes. */
import { setTimeout as pause } from 'node:timers/promises'
import { fillUsers } from '../fill.ts'
import { cpuSeconds, proportionalBytes } from '../servers/processes.ts'
import { newSecret, SERVICE, startService, USERS } from '../servers/test-bed.ts'
import type { Bench, Findings } from './bench.ts'

/** What a start leaves to do, such as the first walk over all users, is over after this time. */
const START_MS = 60_000
const MAX_SHARE = 0.005
const MAX_MIB = 120

export async function idleCase(bench: Bench): Promise<Findings> {
  const { postgres, settings, now, say } = bench
  const measureMs = settings.isQuick ? 60_000 : 300_000
  const { url, db } = await postgres.make('bench_idle')
  await fillUsers(db, USERS, now)
  const service = await startService(bench, url, newSecret())
  const pid = service.processes.service?.pid ?? 0
  say(`idle: waiting ${(START_MS + measureMs) / 1000} s`)
  await pause(START_MS)
  const cpu = async () => ((await cpuSeconds(pid)) ?? 0) + ((await postgres.cpu()) ?? 0)
  const before = await cpu()
  await pause(measureMs)
  const share = ((await cpu()) - before) / (measureMs / 1000)
  const [own, ofDatabase] = [(await proportionalBytes(pid)) / 2 ** 20, (await postgres.memory()) / 2 ** 20]
  say(`  ${(share * 100).toFixed(2)} % of a core, ${own.toFixed(0)} and ${ofDatabase.toFixed(0)} MiB`)
  const what = 'idle, with 10k users'
  const goalOf = (max: string) => ({ peer: 'no load', theirs: '–', ratio: null, goal: `≤ ${max}` })
  return {
    rows: [
      {
        what: `${SERVICE} and PostgreSQL, ${what}: CPU`,
        ours: `${(share * 100).toFixed(2)} % of a core`,
        isMet: share <= MAX_SHARE,
        ...goalOf('0.5 %'),
      },
      {
        what: `${SERVICE} and PostgreSQL, ${what}: memory, shared pages counted once`,
        ours: `${own.toFixed(0)} + ${ofDatabase.toFixed(0)} MiB`,
        isMet: own + ofDatabase <= MAX_MIB,
        ...goalOf(`${MAX_MIB} MiB`),
      },
    ],
    details: [],
    notes: [],
  }
}
