/** What goes wrong during a round of the referee, one kind a round. */
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { replaceNextLogFile } from '../process/disk-fixture.ts'
import { createFaults, type Victim } from '../support/chaos/faults.ts'
import type { History } from '../support/chaos/history.ts'
import { createRunRecord } from '../support/chaos/record.ts'
import type { Failover } from '../support/failover.ts'
import { createProxy } from '../support/lost-answers/proxy.ts'
import type { Fault } from '../support/lost-answers/weather.ts'
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
  /** The database server, where it may fail over. */
  readonly failover: Failover | undefined
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

/** Enough for some expiries, for the next hour, and for what a key is kept. */
const STEPS_MS = [3_000, 3_600_000, 25 * 3_600_000]

const step: Nemesis = async scene => {
  const { stage, history, random } = scene
  const by = STEPS_MS[Math.floor(random() * STEPS_MS.length)] ?? 0
  await around(scene, 500)
  const at = history.now()
  await stage.deployment.whileStopped(() => stepClock(stage.deployment.db, by))
  history.fault('clock_step', at, { by_ms: by, until: history.now() })
}

/** The clock steps while services run: they doubt it for two seconds, and then go on with what they remember. Ids are forgotten meanwhile. */
const leap: Nemesis = async scene => {
  const { stage, history } = scene
  const by = 36 * 24 * 3_600_000
  await around(scene, 1_000)
  const at = history.now()
  await stepClock(stage.deployment.db, by)
  await pause(4_000)
  for (const service of [0, 1]) await untilServing(stage, service)
  history.fault('clock_step', at, { by_ms: by, until: history.now() })
  // What one process forgot, the other may still remember.
  for (let n = 0; n < 12; n++) {
    scene.move()
    await pause(400)
  }
}

/** Longer than callers wait in such a round (`TIMEOUT_MS`). */
const LATE_MS = 3_300
export const TIMEOUT_MS = 3_000

/** A network that loses answers, delivers requests after their callers have gone, and delivers some twice. */
const loseAnswers: Nemesis = async scene => {
  const { stage, history, random, isShort } = scene
  const { deployment } = stage
  let isHealed = false
  const next = (): Fault => {
    const choice = isHealed ? 1 : random()
    if (choice < 0.01) return { kind: 'answer lost', isSilent: false }
    if (choice < 0.015) return { kind: 'answer cut' }
    if (choice < 0.03) return { kind: 'request late', ms: LATE_MS + random() * 1_000 }
    if (choice < 0.15) return { kind: 'doubled', ms: random() ** 2 * 2_000, isSecondAnswered: false }
    return { kind: 'none' }
  }
  const begun = history.now()
  let repetitions = 0
  const proxies = [0, 1].map(service => {
    const heal = () => {}
    return createProxy(
      { next, heal },
      () => deployment.port(service),
      ({ method, path, body, answer, ...times }) => {
        const client = `network-${repetitions++ % 2}`
        const parse = (bytes: Buffer) => (bytes.length === 0 ? undefined : JSON.parse(bytes.toString()))
        const seen = answer === null ? undefined : { status: answer.status, body: parse(answer.body) }
        history.see({ client, service, method, path, body: parse(body), key: undefined, ...times, answer: seen })
      },
    )
  })
  for (const [service, proxy] of proxies.entries()) {
    deployment.lead(service, Number(new URL(await proxy.urlOf('all')).port))
  }
  await around(scene, isShort ? 2_000 : 8_000)
  isHealed = true
  for (const [service, proxy] of proxies.entries()) {
    deployment.lead(service, undefined)
    await proxy.settled()
  }
  history.fault('lose_answers', begun, { until: history.now() })
}

/** The disk has no room for the write-ahead log, for some seconds. */
const fillDisk: Nemesis = async scene => {
  const folders = foldersIn(scene.stage.deployment.dataDir)
  await around(scene, -500)
  const begun = scene.history.now()
  const file = await replaceNextLogFile(folders, '/dev/full')
  const giveUpAt = performance.now() + 60_000
  while (!/PANIC: .*No space left on device/.test(await readFile(folders.log, 'utf8'))) {
    if (performance.now() > giveUpAt) throw new Error('the server does not notice that its disk is full')
    await pause(100)
  }
  await pause(1_000 + scene.random() * 2_000)
  await rm(file)
  for (const service of [0, 1]) await untilServing(scene.stage, service)
  scene.history.fault('full_disk', begun, { until: scene.history.now() })
}

/** A standby that has everything takes over the address, reads only for a while, and is promoted. */
const failOver: Nemesis = async scene => {
  const { failover, history, random } = scene
  if (failover === undefined) throw new Error('this server cannot fail over')
  await around(scene, -1_000 - random() * 500)
  const begun = history.now()
  await failover.replaceByStandby()
  await pause(random() * 1_500)
  await failover.promote()
  for (const service of [0, 1]) await untilServing(scene.stage, service)
  history.fault('fail_over', begun, { until: history.now() })
}

export const NEMESES = {
  none: async () => {},
  kill_service: kill('service'),
  kill_backend: kill('backend'),
  kill_postmaster: kill('postmaster'),
  stop_service: standStill,
  move_users: moveUsers,
  clock_step: step,
  clock_leap: leap,
  lose_answers: loseAnswers,
  full_disk: fillDisk,
  fail_over: failOver,
} satisfies Record<string, Nemesis>

export type NemesisName = keyof typeof NEMESES

export const isNemesis = (name: string): name is NemesisName => Object.hasOwn(NEMESES, name)

/** Those of the long form. */
export const LONG: readonly NemesisName[] = Object.keys(NEMESES).filter(isNemesis)

/** Those of the short form, a round of each. */
export const SHORT: readonly NemesisName[] = ['kill_service', 'stop_service', 'kill_postmaster']
