import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { timeColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import type { Column } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { useRowActions } from '../../components/row-actions.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOrDate, Units } from '../../components/values.tsx'
import { formatPercent } from '../../formats.ts'
import { sendableBeside } from '../../model/blocked-users.ts'
import { MAX_ALERTS, useNearLimit } from '../../queries/overview.ts'
import { useSummaries } from '../../queries/summaries.ts'
import { texts } from '../../texts/texts.ts'
import { FirstRows, useKeptNumber } from './parts.tsx'
import { quotaColumn, usageColumn } from './quota-columns.tsx'

type Quota = Api['SmsQuota']
type Summary = Api['QuotaSummary']

const { near } = texts.overviewParts

/** Quotas that have reached one of their alerts in the current window and have units left, fullest first. */
export function NearLimit() {
  const [count, setCount] = useKeptNumber('near', MAX_ALERTS)
  const alerts = useNearLimit(count)
  const { actions, outcome, menu } = useRowActions()
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
  return whole === 0 ? 1 : ((used ?? 0) + (reserved ?? 0)) / whole
}

interface QuotasProps {
  quotas: readonly Quota[]
  actions: (quota: Quota) => ReactNode
  onMore: (() => void) | undefined
}

function Quotas({ quotas, actions, onMore }: QuotasProps) {
  const users = new Set(quotas.map(({ user_id }) => user_id))
  const summaries = useSummaries('near', [...users])
  return (
    <FirstRows
      list="near"
      onMore={onMore}
      label={near.title}
      columns={columnsOf(summaries.data, actions)}
      rows={quotas}
      keyOf={({ id }) => id}
    />
  )
}

/** @param summaries those that are read already */
function columnsOf(summaries: ReadonlyMap<number, Summary>, actions: QuotasProps['actions']): Column<Quota>[] {
  const { columns, never } = near
  return [
    quotaColumn(columns.quota, actions),
    {
      label: columns.used,
      cell: quota => {
        const share = shareOf(quota)
        // Rounded down: 100% is only what has nothing left.
        return <Badge tone={share >= 1 ? 'bad' : 'held'}>{formatPercent(Math.floor(share * 100) / 100)}</Badge>
      },
    },
    usageColumn(columns.usage),
    {
      label: columns.sendable,
      kind: 'number',
      cell: quota => {
        const summary = summaries.get(quota.user_id)
        return summary === undefined ? '–' : <Sendable quota={quota} summary={summary} />
      },
    },
    {
      ...timeColumn(
        columns.resets,
        ({ window_end }) => window_end,
        () => never,
      ),
      cardLabel: ({ period }) => (period === null ? columns.ends : columns.resets),
    },
  ]
}

/** What the user can send now and, where a cap resets, until the grants end or reset. */
function Sendable({ quota, summary }: { quota: Quota; summary: Summary }) {
  const units = sendableBeside(quota, summary)
  const until = summary.available_until
  const isMore = units === summary.available && until !== null && until.units !== units
  return (
    <>
      <Units value={units} />
      {isMore && <div className={classes.about}>{near.until(until.units, <TimeOrDate at={until.at} />)}</div>}
    </>
  )
}
