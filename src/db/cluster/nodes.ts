/** The nodes of a cluster: what they are, what their settings must be, and what the service's sessions need there. */
import type { Queryable } from '../connection/database.ts'
import { LOCK_TIMEOUT_MS } from '../connection/session.ts'
import { joinSql, type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { TRUST, trustIn } from '../connection/trust.ts'

export interface ClusterNode {
  /** `host:port`. */
  readonly name: string
  readonly isCoordinator: boolean
  readonly isActive: boolean
  /** Whether shards are placed on it. */
  readonly holdsShards: boolean
  /** The node's own account; null: it cannot be reached, and `failure` says why. */
  readonly state: NodeState | null
  readonly failure: string | null
}

interface NodeState {
  readonly postgres: string
  readonly citus: string | null
  readonly walLevel: string
  readonly maxPreparedTransactions: number
  readonly maxConnections: number
  /** Settings that could lose confirmed commits, each with its fault; empty if none could. */
  readonly distrust: readonly string[]
  /** Client sessions now, the caller's among them. */
  readonly connections: number
  /** Whether sessions on it have what the service's statements need. */
  readonly isPrepared: boolean
}

/** A fault of a cluster, and how to mend it. */
export interface ClusterFault {
  /** `host:port`, or what is concerned. */
  readonly where: string
  readonly fault: string
  /** The statement, or the lines of a configuration. */
  readonly fix: string
}

/** A setting by its name, and its value as it stands between quotes. */
interface Setting {
  readonly name: Sql
  readonly value: Sql
}

/**
 * Settings of the sessions that the coordinator opens on workers: the service's own settings stay on the coordinator. The
 * engine connects to the workers itself, with its own settings.
 */
const ON_WORKERS: readonly Setting[] = [{ name: sql`lock_timeout`, value: sqlInteger(LOCK_TIMEOUT_MS) }]

const ON_COORDINATOR: readonly Setting[] = [
  // What a transaction sets for itself, such as how statements are planned, counts where its rows are.
  { name: sql`citus.propagate_set_commands`, value: sql`local` },
  // Half a minute is the default: so long would a call wait for a node that does not answer.
  { name: sql`citus.node_connection_timeout`, value: sql`3000` },
]

/** One statement, because a command on nodes is one; and not passed on to other nodes. */
function settingsStatement(settings: readonly Setting[]): Sql {
  const each = joinSql(
    settings.map(
      ({ name, value }) => sql`execute format('alter database %I set ${name} = %L', current_database(), '${value}');`,
    ),
    sql` `,
  )
  return sql`do $settings$ begin set local citus.enable_ddl_propagation = off; ${each} end $settings$`
}

/** Sets for this database, on every node, what sessions of the service need there. New sessions have it. */
export async function prepareNodes(db: Queryable): Promise<void> {
  await db.query({ text: settingsStatement(ON_COORDINATOR) })
  const rows = await db.query<{ node: string; success: boolean; result: string }>({
    text: sql`select n.nodename || ':' || n.nodeport as node, r.success, r.result
      from run_command_on_workers($1) r join pg_dist_node n on n.nodename = r.nodename and n.nodeport = r.nodeport`,
    values: [settingsStatement(ON_WORKERS)],
  })
  const failed = rows.find(({ success }) => !success)
  if (failed !== undefined) throw new Error(`the node ${failed.node} refused its settings: ${failed.result}`)
}

const STATE = sql`select json_build_object(
    'postgres', split_part(current_setting('server_version'), ' ', 1),
    'citus', (select extversion from pg_extension where extname = 'citus'),
    'walLevel', current_setting('wal_level'),
    'maxPreparedTransactions', current_setting('max_prepared_transactions')::int,
    'maxConnections', current_setting('max_connections')::int,
    'connections', (select count(*) from pg_stat_activity where backend_type = 'client backend'),
    'trust', (select json_agg(t) from (${TRUST}) t),
    'isPrepared', exists (select from pg_db_role_setting s, unnest(s.setconfig) e
      where s.setrole = 0 and s.setdatabase = (select oid from pg_database where datname = current_database())
        and e in ('lock_timeout=${sqlInteger(LOCK_TIMEOUT_MS)}', 'citus.propagate_set_commands=local'))
  )::text`

/** All nodes, the coordinator first. A node that cannot be reached is in the list. */
export async function readNodes(db: Queryable): Promise<ClusterNode[]> {
  const rows = await db.query<Omit<ClusterNode, 'state'> & { state: string | null }>({
    text: sql`select n.nodename || ':' || n.nodeport as name, n.groupid = 0 as "isCoordinator", n.isactive as "isActive",
        n.shouldhaveshards as "holdsShards",
        case when r.success then r.result end as state,
        case when r.success then null else coalesce(r.result, 'it is disabled') end as failure
      from pg_dist_node n left join run_command_on_all_nodes($1, give_warning_for_connection_errors => false) r
        on r.nodeid = n.nodeid
      where n.noderole = 'primary' order by n.groupid`,
    values: [STATE],
  })
  return rows.map(row => ({ ...row, state: row.state === null ? null : stateIn(row.state) }))
}

function stateIn(json: string): NodeState {
  const { trust, ...state } = JSON.parse(json)
  return { ...state, distrust: trustIn(trust).flatMap(({ fault }) => fault ?? []) }
}

/** The oldest version of Citus that runs on PostgreSQL 18, and the one that was tried. */
const MIN_CITUS = 14

/** The faults that keep the tables from being distributed, each with its repair. */
export async function clusterFaults(db: Queryable): Promise<ClusterFault[]> {
  const [here] = await db.query<{ installed: string | null; isLoaded: boolean; host: string; port: number }>({
    text: sql`select (select extversion from pg_extension where extname = 'citus') as installed,
        current_setting('citus.version', true) is not null as "isLoaded",
        coalesce(host(inet_server_addr()), 'HOST') as host, coalesce(inet_server_port(), 5432) as port`,
  })
  if (here === undefined) throw new Error('the database returned no row')
  if (here.installed === null) return [withoutCitus()]
  const major = Number.parseInt(here.installed, 10)
  if (major < MIN_CITUS) {
    const fault = `Citus ${here.installed} is too old; ${MIN_CITUS} or later is needed`
    return [{ where: 'Citus', fault, fix: 'install it on every node, restart, and: alter extension citus update' }]
  }
  const [role] = await db.query<{ isCoordinator: boolean }>({
    text: sql`select citus_is_coordinator() as "isCoordinator"`,
  })
  if (role?.isCoordinator !== true) {
    return [{ where: 'this node', fault: 'it is a worker', fix: 'name the coordinator in DATABASE_URL' }]
  }
  const nodes = await readNodes(db)
  return [
    ...membershipFaults(nodes, `${here.host}', ${here.port}`),
    ...nodes.flatMap(node => nodeFaults(node, here.installed ?? '')),
  ]
}

function withoutCitus(): ClusterFault {
  return {
    where: 'this database',
    fault: 'it is one PostgreSQL, without the extension citus',
    fix: `on every node: shared_preload_libraries = 'citus' in postgresql.conf, restart, and in this database: create extension citus`,
  }
}

function membershipFaults(nodes: readonly ClusterNode[], address: string): ClusterFault[] {
  const faults: ClusterFault[] = []
  if (!nodes.some(({ isCoordinator }) => isCoordinator)) {
    faults.push({
      where: 'this node',
      fault: 'the other nodes do not know the coordinator',
      fix: `select citus_set_coordinator_host('${address})`,
    })
  }
  if (!nodes.some(({ isCoordinator, holdsShards }) => !isCoordinator && holdsShards)) {
    faults.push({ where: 'this cluster', fault: 'it has no worker', fix: `select citus_add_node('HOST', 5432)` })
  }
  return faults
}

function nodeFaults({ name, isActive, state, failure }: ClusterNode, citus: string): ClusterFault[] {
  const at = (fault: string, fix: string) => ({ where: name, fault, fix })
  if (state === null) {
    return [
      at(
        `it cannot be used: ${failure}`,
        isActive ? 'start it' : `select citus_activate_node('${name.replace(':', `', `)})`,
      ),
    ]
  }
  const faults = state.distrust.map(fault => at(fault, 'as it says, and restart or reload it'))
  if (state.walLevel !== 'logical') {
    faults.push(at(`wal_level is ${state.walLevel}`, `alter system set wal_level = 'logical', and restart it`))
  }
  if (state.maxPreparedTransactions === 0) {
    faults.push(
      at(
        'max_prepared_transactions is 0',
        `alter system set max_prepared_transactions = ${state.maxConnections}, and restart it`,
      ),
    )
  }
  if (state.citus !== citus) {
    faults.push(at(`its Citus is ${state.citus ?? 'missing'}, not ${citus}`, 'alter extension citus update'))
  }
  return faults
}
