/** The places of the schema's tables in a cluster, and the statements that bring them there. */
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql, sqlName } from '../connection/sql.ts'

/** The place of a table's rows: by `shard` beside those of `account`, on every node, or on the coordinator alone. */
type Placement = 'sharded' | 'on every node' | 'on the coordinator'

/**
 * Tables without a shard. `principal` and `principal_name` are read beside rows of every shard, and are small and rarely
 * written. The sums of all users are written with rows of one shard at a time: Citus must know them, or the two would not be committed together.
 */
const WITHOUT_SHARD: Readonly<Record<string, Placement>> = {
  principal: 'on every node',
  principal_name: 'on every node',
  usage_total: 'on the coordinator',
  usage_period: 'on the coordinator',
}

export interface Table {
  readonly name: string
  /** Null: Citus need not know it. It is a table of migrations, which no other statement reads, or none of the service. */
  readonly placement: Placement | null
  /** Whether logical replication, by which Citus moves shards, can tell its rows apart. */
  readonly isIdentified: boolean
}

interface Row {
  readonly name: string
  readonly hasShard: boolean
  readonly isIdentified: boolean
  readonly references: readonly string[]
}

/** The tables of the schema, each behind those to which its foreign keys point. `account` is the first. */
export async function readTables(db: Queryable): Promise<Table[]> {
  const rows = await db.query<Row>({
    text: sql`select c.relname as name,
        exists (select from pg_attribute a
          where a.attrelid = c.oid and a.attname = 'shard' and a.atttypid = 'smallint'::regtype) as "hasShard",
        c.relreplident in ('f', 'i')
          or c.relreplident = 'd' and exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
          as "isIdentified",
        array (select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
          where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as references
      from pg_class c
      where c.relkind = 'r' and not c.relispartition
        and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account'))
      order by c.relname <> 'account', c.relname`,
  })
  const tables: Table[] = []
  const placed = new Set<string>()
  const names = new Set(rows.map(({ name }) => name))
  for (let rest = rows; rest.length > 0; ) {
    const ready = rest.filter(({ references }) => references.every(name => placed.has(name) || !names.has(name)))
    if (ready.length === 0)
      throw new Error(`the foreign keys of ${rest.map(({ name }) => name).join(', ')} form a circle`)
    for (const { name, hasShard, isIdentified } of ready) {
      placed.add(name)
      const placement = hasShard ? 'sharded' : (WITHOUT_SHARD[name] ?? null)
      tables.push({ name, placement, isIdentified })
    }
    rest = rest.filter(({ name }) => !placed.has(name))
  }
  return tables
}

/** The tables that Citus does not know yet, in the order in which they can be distributed. */
export async function undistributedTables(db: Queryable): Promise<Table[]> {
  const known = await db.query<{ name: string }>({
    text: sql`select c.relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account'))`,
  })
  const names = new Set(known.map(({ name }) => name))
  return (await readTables(db)).filter(({ name, placement }) => placement !== null && !names.has(name))
}

/**
 * Distributes tables with their rows, all in the transaction. Those with a shard lie beside the rows of `account` that have
 * the same shard.
 *
 * @param shardCount of how many Citus shards `account` is to be, if it is among them; the others follow it
 */
export async function distributeTables(tx: Transaction, tables: readonly Table[], shardCount?: number): Promise<void> {
  for (const { name, placement, isIdentified } of tables) {
    if (!isIdentified) await tx.query({ text: sql`alter table ${sqlName(name)} replica identity full` })
    await tx.query(statementFor(name, placement, shardCount))
  }
}

function statementFor(name: string, placement: Placement | null, shardCount?: number) {
  switch (placement) {
    case 'on every node':
      return { text: sql`select create_reference_table($1::text::regclass)`, values: [name] }
    case 'on the coordinator':
      return { text: sql`select citus_add_local_table_to_metadata($1::text::regclass)`, values: [name] }
    default:
      return name === 'account'
        ? {
            text: sql`select create_distributed_table('account', 'shard', shard_count => $1::int, colocate_with => 'none')`,
            values: [shardCount ?? null],
          }
        : {
            text: sql`select create_distributed_table($1::text::regclass, 'shard', colocate_with => 'account')`,
            values: [name],
          }
  }
}
