import { afterAll, expect, test } from 'vitest'
import { type Database, isUnavailable, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createConnections } from '../../src/engine/connections.ts'
import { connectTo } from '../../src/engine/servers.ts'
import { databaseOnOwnServer } from '../support/database.ts'
import { createNetwork } from '../support/network.ts'
import { rawSql } from '../support/sql.ts'

const log = { info() {}, warn() {}, error() {} }
const servers = [await databaseOnOwnServer(), await databaseOnOwnServer()] as const
const [left, right] = await Promise.all(servers.map(({ url }) => createNetwork(url)))
const common = new URL(left?.url ?? '')
const withHosts = (...hosts: string[]) => common.href.replace(common.host, hosts.join())
const url = withHosts(common.host, new URL(right?.url ?? '').host)

const db = openDatabase({ url })
const engine = createConnections({
  connect: connectTo(url),
  monotonicMs: () => performance.now(),
  lockTimeoutMs: 1_000,
  log,
  onLost() {},
})
afterAll(async () => {
  await engine.close()
  await db.close()
})

/** Makes one server the one that takes writes, and ends the sessions of the other one, as a fail-over does. */
async function promote(promoted: Database, demoted: Database): Promise<void> {
  await promoted.query({ text: sql`alter system reset default_transaction_read_only` })
  await promoted.query({ text: sql`select pg_reload_conf()` })
  await demoted.query({ text: sql`alter system set default_transaction_read_only = on` })
  await demoted.query({ text: sql`select pg_reload_conf()` })
  const applied = async () => {
    const [row] = await demoted.query<{ value: string }>({
      text: sql`select current_setting('default_transaction_read_only') as value`,
    })
    return row?.value
  }
  await expect.poll(applied).toBe('on')
  const others = `from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`
  await demoted.query({ text: rawSql`select pg_terminate_backend(pid) ${others} and application_name = 'sms-quota'` })
  await demoted.query({
    text: rawSql`select pg_terminate_backend(pid) ${others} and application_name = 'sms-quota engine'`,
  })
}

const SERVER = sql`select current_setting('data_directory') as server`

/** The server that answers. Until the connections of before are replaced, an answer is "unavailable". */
async function serverOf(database: Database): Promise<string | undefined> {
  const rows = await database.query<{ server: string }>({ text: SERVER }).catch(error => {
    if (!isUnavailable(error)) throw error
    return []
  })
  return rows[0]?.server
}

/** Whether the engine has a connection that takes writes. */
async function engineConnects(): Promise<boolean> {
  return engine.use(async connection => !connection.isLost).catch(() => false)
}

test('of several hosts the one that takes writes is used, before and after a fail-over', async () => {
  const [one, two] = servers.map(({ db }) => db) as [Database, Database]
  const [first, second] = [await serverOf(one), await serverOf(two)]
  for (const [promoted, demoted, expected] of [
    [two, one, second],
    [one, two, first],
  ] as const) {
    await promote(promoted, demoted)
    await expect.poll(() => serverOf(db)).toBe(expected)
    await expect.poll(engineConnects).toBe(true)
    const text = sql`select count(*)::int as count from pg_stat_activity where application_name = 'sms-quota engine'`
    expect(await promoted.query({ text })).toEqual([{ count: 1 }])
    expect(await demoted.query({ text })).toEqual([{ count: 0 }])
  }
})

test('a host that does not answer is left for the next, and with none left the database is unavailable', async () => {
  const both = openDatabase({ url: withHosts('127.0.0.1:1', common.host) })
  expect(await serverOf(both)).toBe(await serverOf(servers[0].db))
  await both.close()
  const none = openDatabase({ url: 'postgres://u@127.0.0.1:1,localhost:1/d' })
  await expect(none.ping()).rejects.toSatisfy(isUnavailable)
  await none.close()
})
