import { existsSync } from 'node:fs'
import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { whenDone } from '../support/cleanup.ts'
import { createDisk, createQuota, unavailable } from './disk-fixture.ts'

const { folders, start, administer, serverLog, consume, find } = await createDisk()

describe('the disk of the service’s own database', () => {
  test('is full for a table: its calls are 503, others go on, and nothing is done', async () => {
    let service = await start()
    expect((await createQuota(service, 900)).status).toBe(201)
    const table = await administer(async db => {
      const [row] = await db.query<{ path: string; size: number }>({
        text: sql`select pg_relation_filepath('reservation') as path, pg_relation_size('reservation') as size`,
      })
      expect(row?.size).toBe(0)
      // Errors of statements are not in the server's log otherwise.
      await db.query({ text: sql`alter role sms_quota_service set log_min_messages = 'error'` })
      return join(folders.cluster, row?.path ?? '')
    })
    await service.stop()
    await rename(table, `${table}.kept`)
    await symlink('/dev/full', table)
    service = await start()
    whenDone(() => existsSync(`${table}.kept`) && rename(`${table}.kept`, table))

    expect(await consume(service, 900, 'full')).toMatchObject(unavailable)
    // The sender waits in the hope of room; a load balancer knows before.
    await expect.poll(service.stdout).toMatch(/readiness: not ready[\s\S]*http: call not served/)
    expect(await service.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { code: 'unavailable', detail: 'the disk of the database is full' },
    })
    expect((await service.call('GET', '/livez')).status).toBe(200)
    await expect.poll(serverLog).toMatch(/ERROR: .*could not extend file .*No space left on device/)
    await expect.poll(service.stdout).toMatch(/could not extend file .*No space left on device/)
    expect(await find(service, 900, 'full')).toMatchObject({ status: 404 })
    expect((await createQuota(service, 8)).status).toBe(201)

    await rename(`${table}.kept`, table)
    // The processes of the server have the device open.
    await administer(db =>
      db.query({
        text: sql`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      }),
    )
    await expect
      .poll(() => consume(service, 900, 'full'))
      .toMatchObject({ status: 200, body: { granted: true, replayed: false } })
  })
})
