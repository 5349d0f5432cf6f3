import { randomUUID } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { withDatabase } from './cluster.ts'

export interface FreshDatabase {
  readonly url: string
  readonly db: Database
}

/**
 * A migrated database of the caller's own, dropped after the caller's tests. Call it where tests are declared, not in a
 * hook: `const { db, url } = await freshDatabase()` at the top of the file, or in an `async` describe.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  return makeDatabase(`template ${inject('templateName')}`)
}

/** A database without a schema, dropped after the caller's tests. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return makeDatabase("template template0 encoding 'UTF8'")
}

async function makeDatabase(options: string): Promise<FreshDatabase> {
  const name = `sms_quota_test_${randomUUID().replaceAll('-', '')}`
  const url = withDatabase(inject('serverUrl'), name)
  const db = openDatabase({ url })
  afterAll(async () => {
    await db.close()
    await administer(`drop database ${name} with (force)`)
  })
  await administer(`create database ${name} ${options}`)
  return { url, db }
}

async function administer(text: string): Promise<void> {
  const admin = openDatabase({ url: inject('serverUrl'), maxConnections: 1, statementTimeout: 30_000, lockTimeout: 0 })
  try {
    await admin.query({ text })
  } finally {
    await admin.close()
  }
}
