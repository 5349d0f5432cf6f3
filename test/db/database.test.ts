import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  ConnectionLost,
  type Database,
  isUnavailable,
  openDatabase,
  type SqlValue,
} from '../../src/db/connection/database.ts'
import { sqlStateOf, violatedUnique } from '../../src/db/connection/errors.ts'
import { assertOwnSessions } from '../../src/db/connection/own-sessions.ts'
import { BEGIN, COMMIT, connectPipelined } from '../../src/db/connection/pipelined-connection.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { assertTrustworthy } from '../../src/db/connection/trust.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { emptyDatabase } from '../support/database.ts'
import { createNetwork } from '../support/network.ts'
import { rawSql } from '../support/sql.ts'

const { db, url } = await emptyDatabase()
await db.query({ text: sql`create table entry (id bigint primary key, at timestamptz)` })

async function evaluate(expression: string, ...values: SqlValue[]): Promise<unknown> {
  const [row] = await db.query<{ value: unknown }>({ text: rawSql`select ${expression} as value`, values })
  return row?.value
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const countEntries = (where = 'true') => evaluate(`(select count(*) from entry where ${where})`)

/** The server's process id for the pool's only connection. */
const backendOf = async (database: Database) =>
  (await database.query<{ pid: number }>({ text: sql`select pg_backend_pid() as pid` }))[0]?.pid ?? 0

describe('types', () => {
  test.each([
    ['9007199254740991::bigint', Number.MAX_SAFE_INTEGER],
    ['(-5)::bigint', -5],
    ['array[80, 100]::smallint[]', [80, 100]],
    ['array[1, null, 9007199254740991]::bigint[]', [1, null, Number.MAX_SAFE_INTEGER]],
    ["'{}'::bigint[]", []],
    [`array['a', 'b "c" \\ d,', 'NULL', '']::text[]`, ['a', 'b "c" \\ d,', 'NULL', '']],
    [`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    ['null::timestamptz', null],
  ])('%s', async (expression, expected) => {
    expect(await evaluate(expression)).toEqual(expected)
  })

  test('a bigint that no number can hold is an error, not another number', async () => {
    await expect(evaluate('9007199254740993::bigint')).rejects.toThrow(/9007199254740993/)
  })

  test.each([
    ['2026-02-28 23:59:59+00', '2026-02-28T23:59:59.000Z'],
    ['2026-02-28 23:59:59.1+00', '2026-02-28T23:59:59.100Z'],
    ['2026-02-28 23:59:59.12+00', '2026-02-28T23:59:59.120Z'],
    ['2026-02-28 23:59:59.123+00', '2026-02-28T23:59:59.123Z'],
    ['2026-02-28 23:59:59.123999+00', '2026-02-28T23:59:59.123Z'],
    ['2026-03-01 01:00:00+14', '2026-02-28T11:00:00.000Z'],
    ['0099-12-31 00:00:00+00', '0099-12-31T00:00:00.000Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01 00:00:00.5+00 BC', '0000-01-01T00:00:00.500Z'],
    ['0044-03-15 00:00:00+00 BC', '-000043-03-15T00:00:00.000Z'],
    ['9999-12-31 23:59:59.999+00', '9999-12-31T23:59:59.999Z'],
    ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
    ['1969-12-31 23:59:59.999+00', '1969-12-31T23:59:59.999Z'],
  ])('timestamptz %s', async (text, iso) => {
    const at = await evaluate(`'${text}'::timestamptz`)
    expect(at).toBe(Date.parse(iso))
    expect(await evaluate('$1::timestamptz', timestampParam(Date.parse(iso)))).toBe(at)
  })

  test('infinite timestamps', async () => {
    expect(await evaluate("'infinity'::timestamptz")).toBe(Number.POSITIVE_INFINITY)
    expect(await evaluate('$1::timestamptz', timestampParam(Number.NEGATIVE_INFINITY))).toBe(Number.NEGATIVE_INFINITY)
    expect(timestampParam(null)).toBeNull()
  })

  test('sessions are in UTC even if the server’s are not', async () => {
    const elsewhere = openDatabase({ url: withOptions('-c TimeZone=Asia/Tokyo -c DateStyle=German') })
    expect(await elsewhere.query({ text: sql`select '2026-01-01T00:00:00Z'::timestamptz as at` })).toEqual([
      { at: Date.UTC(2026, 0, 1) },
    ])
    await elsewhere.close()
  })
})

function withOptions(options: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', options)
  return changed.href
}

describe('sessions', () => {
  test('have timeouts, and confirm only what is on the disk', async () => {
    const database = openDatabase({ url: withOptions('-c synchronous_commit=off'), lockTimeout: 250 })
    const settings = await database.query({
      text: sql`select name, setting from pg_settings
        where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
          'client_connection_check_interval', 'synchronous_commit', 'application_name')
        order by name`,
    })
    await database.close()
    expect(settings).toEqual([
      { name: 'application_name', setting: 'sms-quota' },
      { name: 'client_connection_check_interval', setting: '1000' },
      { name: 'idle_in_transaction_session_timeout', setting: '5000' },
      { name: 'lock_timeout', setting: '250' },
      { name: 'statement_timeout', setting: '4000' },
      { name: 'synchronous_commit', setting: 'on' },
    ])
  })

  test.each([
    ['local', 'on'],
    ['remote_write', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('of a database with synchronous_commit = %s have %s', async (configured, expected) => {
    const database = openDatabase({ url: withOptions(`-c synchronous_commit=${configured}`) })
    expect(await database.query({ text: sql`show synchronous_commit` })).toEqual([{ synchronous_commit: expected }])
    await database.close()
  })

  test('prepare a named statement once', async () => {
    const statement = { name: 'double', text: sql`select $1::bigint * 2 as twice` }
    expect(await db.query({ ...statement, values: [4] })).toEqual([{ twice: 8 }])
    expect(await db.query({ ...statement, values: [5] })).toEqual([{ twice: 10 }])
  })

  test('ping returns the time of the database', async () => {
    expect(Math.abs((await db.ping()).now - Date.now())).toBeLessThan(60_000)
  })
})

describe('a transaction', () => {
  test('commits and returns the result of its work', async () => {
    const answer = await db.transaction(async tx => {
      await tx.query({ text: sql`insert into entry (id) values (1)` })
      return 'done'
    })
    expect(answer).toBe('done')
    expect(await countEntries('id = 1')).toBe(1)
  })

  test.each([
    ['an error of the work', () => Promise.reject(new Error('changed my mind'))],
    ['an error of the database', () => db.query({ text: sql`select 1 / 0` })],
  ])('leaves nothing after %s', async (_, fail) => {
    const work = db.transaction(async tx => {
      await tx.query({ text: sql`insert into entry (id) values (2)` })
      await fail()
    })
    await expect(work).rejects.toThrow(/changed my mind|division by zero/)
    expect(await countEntries('id = 2')).toBe(0)
  })

  test('fails when its work hid a failed statement', async () => {
    const work = db.transaction(async tx => {
      await tx.query({ text: sql`insert into entry (id) values (3)` })
      await tx.query({ text: sql`select 1 / 0` }).catch(() => {})
    })
    await expect(work).rejects.toThrow(/ROLLBACK/)
    expect(await countEntries('id = 3')).toBe(0)
  })

  test('leaves a clean connection for the next', async () => {
    const single = openDatabase({ url, maxConnections: 1 })
    for (let i = 0; i < 3; i++) {
      await failureOf(single.transaction(tx => tx.query({ text: sql`select 1 / 0` })))
      expect(await single.query({ text: sql`select 1 as one` })).toEqual([{ one: 1 }])
    }
    await single.close()
  })

  test('as a snapshot sees one state of the database and cannot write', async () => {
    await db.transaction(async tx => {
      const read = () => tx.query({ text: sql`select count(*) from entry where id = 4` })
      const before = await read()
      await db.query({ text: sql`insert into entry (id) values (4)` })
      expect(await read()).toEqual(before)
    }, 'snapshot')
    const writing = db.transaction(tx => tx.query({ text: sql`insert into entry (id) values (5)` }), 'snapshot')
    expect(sqlStateOf(await failureOf(writing))).toBe('25006')
  })

  test('runs its work again after a deadlock', async () => {
    await db.query({ text: sql`insert into entry (id) values (10), (11)` })
    let runs = 0
    const lock = (id: number) => ({ text: sql`update entry set at = now() where id = $1`, values: [id] })
    const meet = gate(2)
    const both = [
      [10, 11],
      [11, 10],
    ].map(([first = 0, second = 0]) =>
      db.transaction(async tx => {
        runs++
        await tx.query({ text: sql`set local lock_timeout = '10s'` })
        await tx.query(lock(first))
        await meet()
        await tx.query(lock(second))
      }),
    )
    await Promise.all(both)
    expect(runs).toBe(3)
  })

  test('gives up after four conflicts', async () => {
    let runs = 0
    const work = db.transaction(async tx => {
      runs++
      await tx.query({ text: sql`do $$ begin raise exception using errcode = '40001'; end $$` })
    })
    expect(isUnavailable(await failureOf(work))).toBe(true)
    expect(runs).toBe(4)
  })
})

/** Opens once `size` have come. */
function gate(size: number): () => Promise<void> {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  let waiting = 0
  return () => {
    waiting++
    if (waiting === size) open()
    return opened
  }
}

describe('a lost connection', () => {
  test('is distinguished from other errors, and the next statement gets a new one', async () => {
    const single = openDatabase({ url, maxConnections: 1 })
    const pid = await backendOf(single)
    const sleeping = failureOf(single.query({ text: sql`select pg_sleep(4)` }))
    await db.query({ text: sql`select pg_terminate_backend($1)`, values: [pid] })
    const error = await sleeping
    expect(sqlStateOf(error)).toBe('57P01')
    expect(isUnavailable(error)).toBe(true)
    expect(await backendOf(single)).not.toBe(pid)
    await single.close()
  })

  test('that was idle fails no statement', async () => {
    const warnings: string[] = []
    const log = { info: () => {}, warn: (_: object, message: string) => warnings.push(message), error: () => {} }
    const single = openDatabase({ url, maxConnections: 1, log })
    const pid = await backendOf(single)
    await db.query({ text: sql`select pg_terminate_backend($1, 2000)`, values: [pid] })
    await expect.poll(() => warnings).toEqual(['database: idle connection lost'])
    expect(await backendOf(single)).not.toBe(pid)
    await single.close()
  })

  test('that the server ends as its setup completes is replaced, and its statement can be repeated', async () => {
    const network = await createNetwork(url)
    const single = openDatabase({ url: network.url, maxConnections: 1 })
    const { ended } = network.endNextSessionAfterSetup()
    const error = await failureOf(single.query({ text: sql`select 1` }))
    await ended
    expect(isUnavailable(error)).toBe(true)
    expect(await single.query({ text: sql`select 1 as one` })).toEqual([{ one: 1 }])
    await single.close()
  })

  test.each([
    ['of the pool', (proxy: string) => openDatabase({ url: proxy, connectTimeout: 50 }).query({ text: sql`select 1` })],
    [
      'of an engine',
      (proxy: string) => connectPipelined({ url: proxy, statements: {}, settings: {}, connectTimeoutMs: 50 }),
    ],
  ])('%s whose server stops answering during the setup is closed', async (_name, connect) => {
    const network = await createNetwork(url)
    let isSilenced = false
    network.silenceNextSession().silenced.then(() => {
      isSilenced = true
    })
    // On a busy machine an attempt may end before the setup begins.
    while (!isSilenced) expect(await failureOf(connect(network.url))).toBeInstanceOf(ConnectionLost)
  })

  test('between two statements of a transaction fails it, and nothing of it stays', async () => {
    const work = db.transaction(async tx => {
      const [row] = await tx.query<{ pid: number }>({ text: sql`select pg_backend_pid() as pid` })
      await tx.query({ text: sql`insert into entry (id) values (6)` })
      await db.query({ text: sql`select pg_terminate_backend($1, 2000)`, values: [row?.pid ?? 0] })
      await tx.query({ text: sql`insert into entry (id) values (7)` })
    })
    const error = await failureOf(work)
    expect(isUnavailable(error)).toBe(true)
    expect(await countEntries('id in (6, 7)')).toBe(0)
  })

  test('that idles in a transaction for too long is closed by the server and does not crash the process', async () => {
    const hasty = openDatabase({ url, maxConnections: 1, idleTransactionTimeout: 50 })
    const work = hasty.transaction(async tx => {
      await tx.query({ text: sql`insert into entry (id) values (8)` })
      await new Promise(resolve => setTimeout(resolve, 300))
    })
    expect(await failureOf(work)).toBeInstanceOf(ConnectionLost)
    expect(await hasty.query({ text: sql`select 1 as one` })).toEqual([{ one: 1 }])
    expect(await countEntries('id = 8')).toBe(0)
    await hasty.close()
  })

  test('is the error for a server that does not exist or does not answer', async () => {
    const silent = createServer(socket => socket.resume()).listen(0, '127.0.0.1')
    await new Promise(resolve => silent.once('listening', resolve))
    const { port } = silent.address() as AddressInfo
    const slow = openDatabase({ url: `postgresql://u:p@127.0.0.1:${port}/d?sslmode=disable`, connectTimeout: 200 })
    expect(await failureOf(slow.ping())).toBeInstanceOf(ConnectionLost)
    await new Promise(resolve => silent.close(resolve))
    const refused = await failureOf(slow.ping())
    expect(refused).toBeInstanceOf(ConnectionLost)
    expect(String(refused)).toMatch(/ECONNREFUSED/)
    expect(isUnavailable(refused)).toBe(true)
  })

  test('is the error for a timeout while waiting for a free one', async () => {
    const single = openDatabase({ url, maxConnections: 1, connectTimeout: 1_000 })
    await single.transaction(async () => {
      expect(await failureOf(single.ping())).toBeInstanceOf(ConnectionLost)
    })
    await single.ping()
    await single.close()
  })
})

describe('an error', () => {
  test.each([
    ['a statement that takes too long', { statementTimeout: 50 }, sql`select pg_sleep(2)`, '57014', true],
    ['a wrong statement', {}, sql`select no_such_column`, '42703', false],
    ['a broken constraint', {}, sql`insert into entry (id) values (1)`, '23505', false],
    ['a wrong database', { url: databaseCalled('no_such_database') }, sql`select 1`, '3D000', true],
  ])('%s', async (_, options, text, state, unavailable) => {
    const database = openDatabase({ url, ...options })
    const error = await failureOf(database.query({ text }))
    await database.close()
    expect(sqlStateOf(error)).toBe(state)
    expect(isUnavailable(error)).toBe(unavailable)
  })

  test('a lock that another transaction holds for too long', async () => {
    const lock = { text: sql`select from entry where id = 1 for update` }
    const hasty = openDatabase({ url, lockTimeout: 50 })
    const error = await db.transaction(async tx => {
      await tx.query(lock)
      return failureOf(hasty.query(lock))
    })
    await hasty.close()
    expect(sqlStateOf(error)).toBe('55P03')
    expect(isUnavailable(error)).toBe(true)
  })

  test('of uniqueness names the constraint; others name nothing', async () => {
    const error = await failureOf(db.query({ text: sql`insert into entry (id) values (1)` }))
    expect(violatedUnique(error)).toBe('entry_pkey')
    expect(violatedUnique(new Error('23505'))).toBeUndefined()
  })

  test('of uniqueness on a node of a cluster names the constraint, too', async () => {
    // The node names the constraint of a shard's table, and the coordinator passes on the message only.
    const raised = (message: string, state = '23505') =>
      failureOf(db.query({ text: rawSql`do $$ begin raise exception '${message}' using errcode = '${state}'; end $$` }))
    const message = 'duplicate key value violates unique constraint "entry_pkey_102044"'
    expect(violatedUnique(await raised(message))).toBe('entry_pkey')
    expect(violatedUnique(await raised('duplicate key'))).toBeUndefined()
    expect(violatedUnique(await raised(message, 'XX000'))).toBe('entry_pkey')
    expect(violatedUnique(await raised('the constraint "entry_pkey"', 'XX000'))).toBeUndefined()
  })

  test.each([
    ['postmaster was shut down, exiting', true],
    ['failure on connection marked as essential: db1.example:5432', true],
    ['server closed the connection unexpectedly', true],
    ['could not find block', false],
  ])('of a coordinator that says without a code: %s', async (message, unavailable) => {
    const text = rawSql`do $$ begin raise exception '${message}' using errcode = 'XX000'; end $$`
    expect(isUnavailable(await failureOf(db.query({ text })))).toBe(unavailable)
  })

  test('that a node of a cluster reports leaves the connection to the coordinator open', async () => {
    const single = openDatabase({ url, maxConnections: 1 })
    const pid = await backendOf(single)
    const lostNode = {
      text: sql`do $$ begin raise exception 'connection to the node failed' using errcode = '08006'; end $$`,
    }
    expect(isUnavailable(await failureOf(single.query(lostNode)))).toBe(true)
    expect(await backendOf(single)).toBe(pid)
    await single.close()
  })
})

describe('an error that answers a commit', async () => {
  await db.query({
    text: sql`create table doomed (state text);
      create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'could not commit' using errcode = new.state; end $$;
      create constraint trigger fail_at_commit after insert on doomed deferrable initially deferred
        for each row execute function fail()`,
  })

  const commitThatAnswers = (database: Database, state: string) =>
    failureOf(database.transaction(tx => tx.query({ text: sql`insert into doomed values ($1)`, values: [state] })))

  test.each(['XX000', '08006', '57014'])('%s leaves the outcome unknown', async state => {
    const single = openDatabase({ url, maxConnections: 1 })
    const pid = await backendOf(single)
    const error = await commitThatAnswers(single, state)
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(String(error)).toMatch(/outcome of the commit is unknown: could not commit/)
    expect(await backendOf(single)).toBe(pid)
    await single.close()
  })

  test.each(['23503', '40001'])('%s is a rollback', async state => {
    expect(sqlStateOf(await commitThatAnswers(db, state))).toBe(state)
  })

  test('of a batch leaves its outcome unknown, and the connection can be used again', async () => {
    const statements = { doom: sql`insert into doomed values ($1)`, raise: sql`select 1 / 0`, one: sql`select 1` }
    const connection = await connectPipelined({ url, statements, settings: {} })
    const call = (name: string, ...values: string[]) => ({ name, values })
    const failing = (state: string) =>
      failureOf(connection.run([BEGIN, call('doom', state), COMMIT]).finally(() => connection.rollback()))
    expect(await failing('XX000')).toBeInstanceOf(ConnectionLost)
    expect(sqlStateOf(await failing('23503'))).toBe('23503')
    const early = await failureOf(connection.run([BEGIN, call('raise'), COMMIT]))
    expect(sqlStateOf(early)).toBe('22012')
    await connection.rollback()
    expect(await connection.run([call('one')])).toMatchObject([{ rows: [['1']] }])
    await connection.close()
  })
})

function databaseCalled(name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

describe('trust', () => {
  const report = (settings: Record<string, string>) => ({
    query: async <R extends object>() => Object.entries(settings).map(([name, value]) => ({ name, value })) as R[],
  })
  const good = {
    server_version: '15.4',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    server_encoding: 'UTF8',
  }

  test('is given to the server of these tests', async () => {
    await assertTrustworthy(db)
    await assertTrustworthy(report(good))
  })

  test.each([
    [{ fsync: 'off' }, /fsync is off.*set fsync = on/],
    [{ full_page_writes: 'off', fsync: 'off' }, /fsync is off.*full_page_writes is off/],
    [{ synchronous_commit: 'off' }, /synchronous_commit is off/],
    [{ server_version: '14.19 (Debian)' }, /PostgreSQL 14.*version 15/],
    [{ server_encoding: 'SQL_ASCII' }, /SQL_ASCII.*UTF8/],
  ])('is refused to a server with %o', async (settings, fault) => {
    await expect(assertTrustworthy(report({ ...good, ...settings }))).rejects.toThrow(fault)
  })

  test('is refused to pools that share a session, as behind a pooler in transaction mode', async () => {
    const [one, other] = [openDatabase({ url, maxConnections: 1 }), openDatabase({ url, maxConnections: 1 })]
    await assertOwnSessions(one, other)
    await expect(assertOwnSessions(one, one)).rejects.toThrow(/cannot be used: a pooler .*pool_mode = session/)
    await Promise.all([one.close(), other.close()])
  })

  test('is refused to a database that does not wait for the disk, even though the service’s sessions would', async () => {
    const careless = openDatabase({ url: withOptions('-c synchronous_commit=off') })
    await expect(assertTrustworthy(careless)).rejects.toThrow(/synchronous_commit is off/)
    await careless.close()
  })
})
