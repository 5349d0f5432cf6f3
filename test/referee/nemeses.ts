/** What goes wrong during a round of the referee, one kind a round. */
import { setTimeout as pause } from 'node:timers/promises'
import { createFaults, type Victim } from '../support/chaos/faults.ts'
import type { History } from '../support/chaos/history.ts'
import { createRunRecord } from '../support/chaos/record.ts'
import { type Stage, untilServing } from './clients.ts'
import { stepClock } from './database-clock.ts'

export interface Scene {
  readonly stage: Stage
  readonly history: History
  readonly random: () => number
  /** When the windows end, on `performance.now()`. */
  readonly boundaryAt: number
  /** Whether the run is the short one. */
  readonly isShort: boolean
  /** Moves all users' calls to the other process. */
  move(): void
}

type Nemesis = (scene: Scene) => Promise<void>

const NAMES = ['a', 'b'] as const

/** Resolves some time before or after the boundary. */
async function around({ boundaryAt }: Scene, ms: number): Promise<void> {
  await pause(Math.max(0, boundaryAt + ms - performance.now()))
}

/** Kills one kind of process several times, once at the boundary. */
const kill =
  (victim: Victim): Nemesis =>
  async scene => {
    const { stage, history, random, isShort } = scene
    const faults = createFaults(stage.deployment, createRunRecord(), random)
    for (const at of isShort ? [0] : [-2_000, 0, 3_000]) {
      await around(scene, at - 300 + random() * 600)
      const begun = history.now()
      await faults.kill(victim)
      for (const service of [0, 1]) await untilServing(stage, service)
      history.fault(`kill_${victim}`, begun, { until: history.now() })
    }
  }

/** A process stands still across the end of windows, pauses and reservations, and goes on with what it knew. */
const standStill: Nemesis = async scene => {
  const { stage, history, random, isShort } = scene
  const service = Number(random() < 0.5)
  const longestMs = isShort ? 3_000 : 19_000
  await around(scene, -200 - random() * 800)
  const begun = history.now()
  stage.deployment.signal(service, 'SIGSTOP')
  await pause(1_000 + random() * (longestMs - 1_000))
  stage.deployment.signal(service, 'SIGCONT')
  history.fault('stop_service', begun, { service: NAMES[service] ?? 'a', until: history.now() })
}

/** The calls of all users go to the other process, again and again, also while some are under way. */
const moveUsers: Nemesis = async scene => {
  const begun = scene.history.now()
  for (let n = 0; n < (scene.isShort ? 12 : 40); n++) {
    scene.move()
    await pause(50 + scene.random() * 400)
  }
  scene.history.fault('move_users', begun, { until: scene.history.now() })
}

/** Enough for the next hour, for what a key is kept, and for what an id is remembered. */
const STEPS_MS = [3_000, 3_600_000, 25 * 3_600_000, 36 * 24 * 3_600_000]

const step: Nemesis = async scene => {
  const { stage, history, random } = scene
  const by = STEPS_MS[Math.floor(random() * STEPS_MS.length)] ?? 0
  await around(scene, 500)
  const at = history.now()
  await stage.deployment.whileStopped(() => stepClock(stage.deployment.db, by))
  history.fault('clock_step', at, { by_ms: by, until: history.now() })
}

export const NEMESES = {
  none: async () => {},
  kill_service: kill('service'),
  kill_backend: kill('backend'),
  kill_postmaster: kill('postmaster'),
  stop_service: standStill,
  move_users: moveUsers,
  clock_step: step,
} satisfies Record<string, Nemesis>

export type NemesisName = keyof typeof NEMESES

export const isNemesis = (name: string): name is NemesisName => Object.hasOwn(NEMESES, name)

/** Those of the short form, a round of each. */
export const SHORT: readonly NemesisName[] = ['kill_service', 'stop_service', 'kill_postmaster']
