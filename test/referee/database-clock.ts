/** The database's clock, which the services follow: a function in the place of PostgreSQL's adds an interval that the test chooses. */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { rawSql } from '../support/sql.ts'

/** Puts the clock ahead of the machine's by `ms`. For sessions that begin later. */
export async function installClock(db: Database, ms: number): Promise<void> {
  const [row] = await db.query<{ name: string }>({ text: sql`select current_database() as name` })
  await db.transaction(async tx => {
    await tx.query({ text: rawSql`create table public.clock_step (by interval not null)` })
    await tx.query({ text: rawSql`insert into public.clock_step values ('${ms} milliseconds')` })
    await tx.query({ text: rawSql`grant select on public.clock_step to public` })
    await tx.query({
      text: rawSql`create function public.clock_timestamp() returns timestamptz language sql volatile
        as 'select pg_catalog.clock_timestamp() + by from public.clock_step'`,
    })
    // The first place that has a function of that name counts.
    await tx.query({ text: rawSql`alter database "${row?.name}" set search_path = public, pg_catalog` })
  })
}

/** Steps the clock. Services that run would doubt it. */
export async function stepClock(db: Database, ms: number): Promise<void> {
  await db.query({ text: rawSql`update public.clock_step set by = by + interval '${ms} milliseconds'` })
}

/** @returns what the clock showed at 0 of `performance.now()`, in milliseconds since 1970 */
export async function readEpoch(db: Database): Promise<number> {
  const text = rawSql`select (extract(epoch from pg_catalog.clock_timestamp() + by) * 1000)::float8 as now from public.clock_step`
  const before = performance.now()
  const [row] = await db.query<{ now: number }>({ text })
  return (row?.now ?? 0) - (before + performance.now()) / 2
}
