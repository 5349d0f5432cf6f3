/** The values that the schema accepts in columns of enums, beside the constants of the domain. */
import { expect, test } from 'vitest'
import { CHANGE_LOGS } from '../../src/db/changes/logs.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { storedPeriod } from '../../src/db/ledger/stored-period.ts'
import type { UpkeepTask } from '../../src/db/usage/maintenance.ts'
import { AUDITED } from '../../src/domain/events/audit.ts'
import { createQuota } from '../../src/domain/quotas/quota.ts'
import { COUNTED_VALUES, COUNTS, QUOTA_KINDS } from '../../src/domain/quotas/quota-settings.ts'
import { type AnchorKind, PERIODS } from '../../src/domain/time/period.ts'
import { DELIVERY_STATUSES, type Webhook } from '../../src/domain/webhooks/webhook.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const { db } = await databaseOfOnePostgres()

/** All members of a union. */
const all = <Member extends string>(members: Record<Member, true>) => Object.keys(members)

/** What the service may write, by the check that lists what is accepted: that of a domain, or of a table. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  quota_kind: QUOTA_KINDS,
  quota_period: storedPeriods(),
  'quota_change.action': AUDITED.quota,
  'plan_change.action': AUDITED.plan,
  'rate_card_change.action': AUDITED.rate_card,
  'profile_change.action': AUDITED.profile,
  'usage_upkeep.task': all<UpkeepTask>({ day: true, month: true, busy: true, figures: true }),
  'webhook.disabled_reason': all<NonNullable<Webhook['disabled_reason']>>({ failing: true, gone: true }),
  'webhook_change.action': AUDITED.webhook,
  'webhook_delivery.status': DELIVERY_STATUSES,
}

/** The stored form of each period that a quota may have, with and without an anchor. */
function storedPeriods(): string[] {
  const anchors: Record<AnchorKind, string> = { day: '15', date: '04-01' }
  const forms = [null, ...PERIODS].flatMap(period =>
    [null, ...Object.values(anchors)].flatMap(anchor =>
      [null, ...COUNTED_VALUES].flatMap(per => COUNTS.map(counts => ({ period, anchor, per, counts }))),
    ),
  )
  const valid = forms.filter(form =>
    QUOTA_KINDS.some(kind => {
      const draft = { user_id: 1, limit: 1, kind, ...form, ...(form.per === null ? {} : { alert_at: [] }) }
      return !('issues' in createQuota(draft, { id: 1, now: 0, actor: '' }))
    }),
  )
  return [...new Set(valid.map(storedPeriod).filter(stored => stored !== null))]
}

test('the schema accepts each value that the service may write', async () => {
  const checks = await db.query<{ name: string; domain: string | null; column: string; condition: string }>({
    text: sql`select coalesce(t.typname, c.conrelid::regclass || '.' || a.attname) as name, t.typname as domain,
             a.attname as column, pg_get_expr(c.conbin, c.conrelid) as condition
           from pg_constraint c left join pg_type t on t.oid = c.contypid
             left join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
           where c.contype = 'c' and c.connamespace = 'public'::regnamespace
             and pg_get_constraintdef(c.oid) like '%= ANY (ARRAY[''%' order by name`,
  })
  expect(checks.map(({ name }) => name).toSorted(), 'a check without its constants here').toEqual(
    Object.keys(WRITTEN).toSorted(),
  )
  for (const { name, domain, column, condition } of checks) {
    for (const value of WRITTEN[name] ?? []) {
      const [row] = await db
        .query<{ accepted: boolean }>(
          domain === null
            ? { text: rawSql`select ${condition} as accepted from (select '${value}'::text as "${column}") one` }
            : { text: rawSql`select '${value}'::${domain} is not null as accepted` },
        )
        .catch(() => [])
      expect(row?.accepted, `${name} refuses '${value}': a migration has to widen its check`).toBe(true)
    }
  }
})

test('each table of changes is one of the data by which changes are inserted, listed, kept and erased, and has their indexes', async () => {
  const tables = await db.query<{ name: string; indexes: string[] }>({
    text: sql`select t.relname as name, array_agg(i.relname::text order by i.relname) as indexes
           from pg_class t join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
           where t.relnamespace = 'public'::regnamespace and t.relname like '%\\_change' group by t.relname order by t.relname`,
  })
  const logs = Object.values(CHANGE_LOGS).map(({ table, user }) => ({
    name: table,
    indexes: expect.arrayContaining([
      ...['by_actor', 'by_request', 'by_time'].map(end => `${table}_${end}`),
      ...(user === undefined ? [] : [`${table}_by_user`]),
      `${table}_pkey`,
    ]),
  }))
  expect(tables).toEqual(logs.toSorted((one, other) => (one.name < other.name ? -1 : 1)))
})
