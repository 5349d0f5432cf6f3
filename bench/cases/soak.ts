/** Shows that the service's memory does not grow during minutes of full load with mixed calls. */
import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../measure.ts'
import { residentBytes } from '../servers/processes.ts'
import { FULL_LOAD, startTestBed, USERS } from '../servers/test-bed.ts'
import type { Bench, Findings } from './bench.ts'
import { DENIED_USERS, MIXED_CALLS } from './mixed.ts'

const SAMPLES = 60
const MIB = 2 ** 20

export async function soakCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, candidate } = await startTestBed(bench, 'soak', { users: { denied: DENIED_USERS } })
  const pid = service.processes.service?.pid ?? 0
  const measureMs = settings.soakMinutes * 60_000
  const running = candidate(service, {
    ...FULL_LOAD,
    users: USERS,
    deniedUsers: DENIED_USERS,
    mix: MIXED_CALLS,
    warmupMs: 10_000,
    measureMs,
  }).run(0)

  const sizes: number[] = []
  let isFinished = false
  const sampling = (async () => {
    // Compiled code and caches grow in the first seconds.
    await pause(10_000)
    while (!isFinished) {
      const bytes = await residentBytes(pid)
      if (bytes !== null) sizes.push(bytes / MIB)
      say(`  ${sizes.at(-1)?.toFixed(0)} MiB`)
      await pause(measureMs / SAMPLES)
    }
  })()
  const sample = await running.finally(() => {
    isFinished = true
  })
  await sampling

  const third = Math.floor(sizes.length / 3)
  const [early, late] = [median(sizes.slice(0, third)), median(sizes.slice(-third))]
  const ratio = late / early
  return {
    rows: [
      {
        what: `memory after ${settings.soakMinutes} minutes of mixed calls at full load`,
        peer: 'its first third',
        ours: `${late.toFixed(0)} MiB`,
        theirs: `${early.toFixed(0)} MiB`,
        ratio,
        goal: '≤ 1.1×, ≤ 450 MiB',
        isMet: ratio <= 1.1 && late <= 450,
      },
    ],
    details: [{ load: `closed loop, 10k users, ${settings.soakMinutes} minutes`, side: service.name, sample }],
    notes: [
      `Resident memory of the service: first ${sizes[0]?.toFixed(0)} MiB, median ${median(sizes).toFixed(0)} MiB, last ${sizes.at(-1)?.toFixed(0)} MiB, maximum ${Math.max(...sizes).toFixed(0)} MiB.`,
    ],
  }
}
