/** A disk that fails the write-ahead log: the server ends and recovers, again and again, until there is room. */
import { rm } from 'node:fs/promises'
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { verify } from '../../src/db/verify/verify.ts'
import type { Answer } from '../support/service.ts'
import { createDisk, createQuota, replaceNextLogFile, unavailable } from './disk-fixture.ts'

// In memory, the server reads the zeros of a device again and again as it recovers, and never ends.
const { folders, start, administer, serverLog, consume, find } = await createDisk('/tmp')

/** Repeats calls until `stop`, each with its own number, and notes how they were answered. */
function repeat(call: (n: number) => Promise<Answer>) {
  const acknowledged = new Map<number, Answer>()
  const refused: Answer[] = []
  let made = 0
  let isStopped = false
  async function loop(): Promise<void> {
    while (!isStopped) {
      const n = made++
      const answer = await call(n).catch(() => undefined)
      if (answer === undefined) continue
      if (answer.status < 300) acknowledged.set(n, answer)
      else refused.push(answer)
    }
  }
  const loops = Promise.all([loop(), loop(), loop()])
  // Also of a test that has failed: without a service, they would keep the process busy.
  onTestFinished(() => {
    isStopped = true
  })
  return {
    acknowledged,
    refused,
    /** @returns how many calls were made */
    async stop() {
      isStopped = true
      await loops
      return made
    },
  }
}

describe('the disk of the service’s own database', () => {
  test.each([
    ['is full for its log', 901, '/dev/full', /PANIC: .*could not write to log file .*No space left on device/g],
    ['does not flush its log', 902, '/dev/null', /PANIC: .*could not f\w*sync file "\w+": Invalid argument/g],
  ])(
    '%s: nothing acknowledged is lost, calls are 503, and it goes on by itself when there is room',
    async (_, user, device, reason) => {
      const service = await start()
      expect((await createQuota(service, user)).status).toBe(201)
      const sending = repeat(n => consume(service, user, `m${n}`))
      const creating = repeat(n => createQuota(service, 10_000 + n))
      const numbers = () => [sending.acknowledged.size, creating.acknowledged.size]
      await expect.poll(() => Math.min(...numbers())).toBeGreaterThan(20)

      onTestFailed(async () => console.error((await serverLog()).slice(-4_000)))
      const file = await replaceNextLogFile(folders, device)
      // It fails, recovers, and fails again, until there is room.
      await expect.poll(async () => (await serverLog()).match(reason)?.length ?? 0).toBeGreaterThan(1)
      const [sent = 0, created = 0] = numbers()
      expect(await consume(service, user, 'meanwhile')).toMatchObject(unavailable)
      expect((await service.call('GET', '/livez')).status).toBe(200)
      expect((await service.call('GET', '/readyz')).status).toBe(503)
      expect(numbers()).toEqual([sent, created])

      await rm(file)
      // Recovery flushes the whole folder first. PostgreSQL 18 hangs in it now and then; after two minutes the service ends it.
      const patient = { timeout: 200_000 }
      await expect.poll(() => sending.acknowledged.size, patient).toBeGreaterThan(sent)
      await expect.poll(() => creating.acknowledged.size, patient).toBeGreaterThan(created)
      const made = await sending.stop()
      await creating.stop()
      for (const refusal of [...sending.refused, ...creating.refused]) expect(refusal).toMatchObject(unavailable)

      for (const n of sending.acknowledged.keys())
        expect(await find(service, user, `m${n}`)).toMatchObject({ status: 200, body: { committed: 1 } })
      for (const { body } of creating.acknowledged.values())
        expect(await service.call('GET', `/api/sms/admin/quota/${body.id}`)).toMatchObject({ status: 200, body })
      // Each is charged once, however its first call ended.
      for (const id of ['meanwhile', ...Array.from({ length: made }, (_, n) => `m${n}`)])
        expect(await consume(service, user, id)).toMatchObject({ status: 200, body: { granted: true } })
      const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}`)
      expect(body.items).toMatchObject([{ used: made + 1 }])
      expect((await administer(verify)).differences).toEqual([])
    },
    400_000,
  )
})
