/** The names of principals that have a role, from their tokens. People read them beside subjects; nothing is decided by them. */
import type { EpochMs } from '../../domain/time/time.ts'
import type { Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

export interface PrincipalName {
  subject: string
  name: string
}

/** A name as it is written: with the user that the token is of, null if it is no user's. */
export interface SeenName extends PrincipalName {
  user_id: number | null
}

/** The most names that are stored. An issuer of tokens can make any number of subjects, so their number is bounded. */
const MAX_NAMES = 100_000

/**
 * Writes names, each of another subject. When the table is full, only those of subjects that it has are written. It is counted
 * before the rows are added, so each process can pass the bound by its rows once.
 *
 * @param maxNames for tests
 */
export async function writeNames(
  db: Queryable,
  names: readonly SeenName[],
  now: EpochMs,
  maxNames = MAX_NAMES,
): Promise<void> {
  await db.query({
    name: 'write-principal-names',
    text: sql`insert into principal_name (subject, name, user_id, seen_at)
           select n.subject, n.name, n.user_id, $4
           from unnest($1::text[], $2::text[], $3::bigint[]) n (subject, name, user_id)
           where (select count(*) from principal_name) < $5
             or exists (select from principal_name p where p.subject = n.subject)
           -- One order for all processes, so that none waits for another that waits for it.
           order by n.subject
           on conflict (subject) do update
             set name = excluded.name, user_id = excluded.user_id, seen_at = excluded.seen_at`,
    values: [
      names.map(({ subject }) => subject),
      names.map(({ name }) => name),
      names.map(({ user_id }) => user_id),
      timestampParam(now),
      maxNames,
    ],
  })
}

/** The names of those of the subjects that have one, by subject. */
export function namesOf(db: Queryable, subjects: readonly string[]): Promise<PrincipalName[]> {
  return db.query<PrincipalName>({
    name: 'names-of-principals',
    text: sql`select subject, name from principal_name where subject = any ($1::text[]) order by subject`,
    values: [subjects],
  })
}

/** The names of the tokens of a user: several if they had different subjects. */
export function namesOfUser(db: Queryable, userId: number): Promise<(PrincipalName & { seen_at: EpochMs })[]> {
  return db.query<PrincipalName & { seen_at: EpochMs }>({
    name: 'names-of-user',
    text: sql`select subject, name, seen_at from principal_name where user_id = $1 order by subject`,
    values: [userId],
  })
}

/** Removes the names that were last seen at `cutoff` or before. */
export async function removeUnseenNames(db: Queryable, cutoff: EpochMs): Promise<void> {
  await db.query({
    name: 'remove-unseen-names',
    text: sql`delete from principal_name where seen_at <= $1`,
    values: [timestampParam(cutoff)],
  })
}
