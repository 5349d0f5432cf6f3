/**
 * The role that the service uses: it owns the service's database and all in it, and has no other right. The role that
 * `initdb` makes is a superuser, which could read files and run programs; it stays for what only it can do.
 */
import { createHmac } from 'node:crypto'
import type pg from 'pg'
import { sql } from '../connection/sql.ts'

/** The service's database, and the role that `initdb` makes. */
export const NAME = sql`sms_quota`

export const SERVICE_ROLE = sql`sms_quota_service`

/** Made of the superuser's password, which it does not tell. So there is no second file to keep. */
export const servicePassword = (password: string): string =>
  createHmac('sha256', password).update(SERVICE_ROLE).digest('base64url')

/** Whether the role can be used already: not before the first start of a version that has it. */
export const IS_PREPARED = sql`exists (select from pg_database join pg_roles r on r.oid = datdba
  where datname = '${NAME}' and rolname = '${SERVICE_ROLE}')`

/**
 * All objects that belong to the superuser and must change their owner: in a data folder that an earlier version made, or
 * used again in between. Sequences that belong to a column and types of rows change their owner with the table.
 */
const TO_CHANGE = sql`with schema as (
    select oid, nspname, nspowner from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
  ), given as (
    select 'pg_class'::regclass as class, c.oid, relowner as owner, format('table %I.%I', nspname, relname) as name
      from pg_class c join schema on schema.oid = relnamespace where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    union all select 'pg_type'::regclass, t.oid, typowner, format('type %I.%I', nspname, typname)
      from pg_type t join schema on schema.oid = typnamespace left join pg_class c on c.oid = typrelid
      where typtype in ('d', 'e', 'r') or typtype = 'c' and c.relkind = 'c'
    union all select 'pg_proc'::regclass, p.oid, proowner, format('routine %s', p.oid::regprocedure)
      from pg_proc p join schema on schema.oid = pronamespace
    union all select 'pg_namespace'::regclass, oid, nspowner, format('schema %I', nspname) from schema
  )
  select format('alter %s owner to ${SERVICE_ROLE}', name) as statement from given
    where owner = current_user::regrole and not exists (
      select from pg_depend d where d.classid = class and d.objid = given.oid and d.deptype in ('a', 'i', 'e'))`

/** Its password is set each time: an operator may have changed the superuser's. */
const MAKE_ROLE = sql`select format('%s role ${SERVICE_ROLE} login nosuperuser nocreatedb nocreaterole noreplication
    nobypassrls password %L', case when to_regrole('${SERVICE_ROLE}') is null then 'create' else 'alter' end, $1::text)
  as statement union all select 'alter database ${NAME} owner to ${SERVICE_ROLE}'`

/**
 * Makes the role, and the owner of what the database holds. Nothing else may do so meanwhile. A standby gets its roles
 * from the server that it follows.
 * @param admin a superuser's connection to the service's database
 */
export async function prepareServiceRole(admin: pg.Client, password: string): Promise<void> {
  const { rows } = await admin.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby) return
  // A standby that is away holds up no start, and a session of a killed service only for a while.
  await admin.query("begin read write; set local synchronous_commit = local; set local lock_timeout = '10s'")
  try {
    const role = await admin.query<{ statement: string }>(MAKE_ROLE, [servicePassword(password)])
    for (const { statement } of role.rows) await admin.query(statement)
    const owned = await admin.query<{ statement: string }>(TO_CHANGE)
    for (const { statement } of owned.rows) await admin.query(statement)
    await admin.query('commit')
  } catch (error) {
    await admin.query('rollback').catch(() => {})
    throw error
  }
}
