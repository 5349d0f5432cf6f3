import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { QuotaName } from '../../components/links.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { useRowActions } from '../../components/row-actions.tsx'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { TimeOrDate, Timestamp, Units } from '../../components/values.tsx'
import { formatPercent } from '../../formats.ts'
import { sendableBeside } from '../../model/blocked-users.ts'
import { MAX_ALERTS, useNearLimit } from '../../queries/overview.ts'
import { useSummaries } from '../../queries/summaries.ts'
import { texts } from '../../texts/texts.ts'
import { useFirstRows, useKeptNumber } from './parts.tsx'

type Quota = Api['SmsQuota']

/** Quotas that have reached one of their alerts in the current window and have units left, fullest first. */
export function NearLimit() {
  const [count, setCount] = useKeptNumber('near', MAX_ALERTS)
  const alerts = useNearLimit(count)
  const { actions, outcome, menu } = useRowActions()
  const { near } = texts.overviewParts
  return (
    <Section isFramed title={near.title}>
      {outcome}
      <Loaded query={alerts} loading={<Loading rows={5} height={44} />}>
        {({ items, next_cursor }) => {
          // One that alerts at 80% only has reached no more, also when nothing is left.
          const quotas = items.map(({ quota }) => quota).filter(({ status }) => status !== 'exhausted')
          if (quotas.length === 0) return <EmptyState title={near.none}>{near.noneAbout}</EmptyState>
          return (
            <>
              <Quotas
                quotas={quotas.toSorted((one, other) => shareOf(other) - shareOf(one))}
                actions={actions}
                onMore={next_cursor === null ? undefined : () => setCount(count + MAX_ALERTS)}
              />
              <p className={classes.more}>
                {near.about} {next_cursor !== null && near.more}
              </p>
            </>
          )
        }}
      </Loaded>
      {menu}
    </Section>
  )
}

/** The share of its units that a quota has used or reserved. Only a quota with a limit has alerts. */
function shareOf({ limit, rolled_over, used, reserved }: Quota): number {
  const whole = (limit ?? 0) + rolled_over
  return whole === 0 ? 1 : (used + reserved) / whole
}

interface QuotasProps {
  quotas: readonly Quota[]
  actions: (quota: Quota) => ReactNode
  onMore: (() => void) | undefined
}

function Quotas({ quotas, actions, onMore }: QuotasProps) {
  const [shown, buttons] = useFirstRows('near', quotas, onMore)
  const users = new Set(quotas.map(({ user_id }) => user_id))
  const summaries = useSummaries('near', [...users])
  const { title, columns } = texts.overviewParts.near
  return (
    <>
      <Table className={`${classes.table} ${classes.cards}`} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{columns.quota}</Table.Th>
            <Table.Th scope="col">{columns.used}</Table.Th>
            <Table.Th scope="col">{columns.usage}</Table.Th>
            <Table.Th scope="col" className={classes.number}>
              {columns.sendable}
            </Table.Th>
            <Table.Th scope="col">{columns.resets}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(quota => (
            <Row key={quota.id} quota={quota} summary={summaries.data.get(quota.user_id)} actions={actions(quota)} />
          ))}
        </Table.Tbody>
      </Table>
      {buttons}
    </>
  )
}

/** What the user can send now and, where a cap resets, until the grants end or reset. */
function Sendable({ quota, summary }: { quota: Quota; summary: Api['QuotaSummary'] }) {
  const units = sendableBeside(quota, summary)
  const until = summary.available_until
  const isMore = units === summary.available && until !== null && until.units !== units
  return (
    <>
      <Units value={units} />
      {isMore && (
        <div className={classes.about}>{texts.overviewParts.near.until(until.units, <TimeOrDate at={until.at} />)}</div>
      )}
    </>
  )
}

interface RowProps {
  quota: Quota
  /** Undefined until it is read. */
  summary: Api['QuotaSummary'] | undefined
  actions: ReactNode
}

function Row({ quota, summary, actions }: RowProps) {
  const { columns, never } = texts.overviewParts.near
  const share = shareOf(quota)
  return (
    <Table.Tr>
      <Table.Th scope="row" className={classes.name}>
        <QuotaName quota={quota} actions={actions} />
        <Anchor component={Link} href={`/users/${quota.user_id}`} size="xs">
          {texts.overviewParts.user(quota.user_id)}
        </Anchor>
      </Table.Th>
      <Table.Td data-label={columns.used}>
        {/* Rounded down: 100% is only what has nothing left. */}
        <Badge tone={share >= 1 ? 'bad' : 'held'}>{formatPercent(Math.floor(share * 100) / 100)}</Badge>
      </Table.Td>
      <Table.Td data-label={columns.usage} className={classes.usage}>
        <UsageBar {...quota} />
      </Table.Td>
      <Table.Td data-label={columns.sendable} className={classes.number}>
        {summary === undefined ? '–' : <Sendable quota={quota} summary={summary} />}
      </Table.Td>
      <Table.Td data-label={quota.period === null ? columns.ends : columns.resets}>
        <Timestamp at={quota.window_end} none={never} />
      </Table.Td>
    </Table.Tr>
  )
}
