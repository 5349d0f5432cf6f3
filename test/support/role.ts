import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { whenDone } from './cleanup.ts'
import type { FreshDatabase } from './database.ts'
import { rawSql } from './sql.ts'

export interface PlainRole {
  readonly name: string
  /** The database's URL, with sessions that have this role. */
  readonly url: string
}

/** A role that may connect to a database and has no other right there, dropped after the caller's tests. */
export async function plainRole({ db, url }: FreshDatabase): Promise<PlainRole> {
  const name = `sms_quota_test_${randomUUID().replaceAll('-', '')}`
  await db.query({ text: rawSql`create role ${name} login password 'p'` })
  whenDone(async () => {
    const admin = openDatabase({ url: inject('serverUrl'), maxConnections: 1 })
    await db.query({ text: rawSql`drop owned by ${name}` })
    await admin.query({ text: rawSql`drop role ${name}` })
    await admin.close()
  })
  await db.query({ text: rawSql`grant connect on database ${new URL(url).pathname.slice(1)} to ${name}` })
  await db.query({ text: sql`revoke create on schema public from public` })
  const asRole = new URL(url)
  asRole.searchParams.set('options', `-c role=${name}`)
  return { name, url: asRole.href }
}

/** A role with the rights that operations.md names for a service with MIGRATE=off. */
export async function leastRole(database: FreshDatabase): Promise<PlainRole> {
  const role = await plainRole(database)
  const grant = (rights: string) =>
    database.db.query({ text: rawSql`grant ${rights} in schema public to ${role.name}` })
  await database.db.query({ text: rawSql`grant usage on schema public to ${role.name}` })
  await grant('select, insert, update, delete on all tables')
  await grant('usage on all sequences')
  return role
}
