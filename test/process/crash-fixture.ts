/** A service that is killed while a ledger is written through it. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { createLedger, seededRandom } from '../support/ledger.ts'
import { createSite, type Service } from '../support/process.ts'

/** Call this where tests are declared. */
export async function startVictim() {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
  const random = seededRandom(seed)
  const ledger = createLedger(random)
  const site = await createSite({ prepared: true })
  let service = await site.start()

  return {
    ledger,
    site,
    random,
    seed,
    service: (): Service => service,

    async killPostmaster(): Promise<void> {
      const pid = await site.postmaster()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    },

    /** Kills while some writes are acknowledged and others in flight. */
    async killWhileWriting(kill: () => Promise<void>): Promise<ReturnType<typeof ledger.write>> {
      onTestFailed(() => console.error(`SEED=${seed} repeats the same writes`))
      const before = ledger.acknowledged()
      const writing = ledger.write(service.call)
      await expect.poll(ledger.acknowledged).toBeGreaterThan(before)
      await pause(random() * 400)
      await kill()
      return writing
    },

    /** Starts the service again without manual repair. */
    async restart(): Promise<void> {
      service = await site.start()
    },

    /** Starts it again, and checks that acknowledged writes are there, and no others. */
    async startAgain(): Promise<void> {
      await this.restart()
      await ledger.settle(service.call)
    },

    /** Compares what the database counts with what was acknowledged. */
    async expectAgreement(): Promise<void> {
      const db = openDatabase({ url: (await connectionOf(site.dataDir)) ?? '' })
      const [sums] = await db.query({
        text: sql`select (select count(*) from quota) as quotas,
          (select sum(grants)::bigint from shard_head) as counted,
          (select sum(version)::bigint from quota) as versions,
          (select count(*) from quota_change) as changes,
          (select count(*) from event) as events,
          (select sum(last_event)::bigint from shard_head) as numbered`,
      })
      await db.close()
      const { versions, quotas } = sums as { versions: number; quotas: number }
      expect(quotas).toBe(ledger.acknowledged())
      expect(sums).toMatchObject({ counted: quotas, changes: versions, events: versions, numbered: versions })
    },
  }
}
