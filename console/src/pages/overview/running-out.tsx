import { Anchor, Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import classes from '../../components/panel-table.module.css'
import { quotaName } from '../../components/quota-labels.ts'
import { Section } from '../../components/section.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Timestamp } from '../../components/values.tsx'
import { useAlerts } from './overview-queries.ts'

type Alert = Api['QuotaAlerts']['items'][number]

/** Quotas that have reached one of their alert thresholds in the current window. */
export function RunningOut() {
  const alerts = useAlerts()
  return (
    <Section isFramed title="About to run out">
      <Loaded query={alerts} loading={<Loading rows={4} height={44} />}>
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <EmptyState title={next_cursor === null ? 'No quotas are about to run out' : 'None found yet'}>
              Quotas appear here when they reach an alert threshold, by default 80% and 100%.
            </EmptyState>
          ) : (
            <>
              <Alerts alerts={items} />
              {next_cursor !== null && (
                <p className={classes.more}>Showing the {items.length} closest to their limits.</p>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  return (
    <Table className={`${classes.table} ${classes.cards}`} aria-label="Quotas about to run out">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Quota</Table.Th>
          <Table.Th scope="col">Reached</Table.Th>
          <Table.Th scope="col">Usage</Table.Th>
          <Table.Th scope="col">Resets</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {alerts.map(alert => (
          <Row key={alert.quota.id} {...alert} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ quota, percent, at }: Alert) {
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} href={`/quotas/${quota.id}`} size="sm" fw={600} className={classes.name ?? ''}>
          {quotaName(quota)}
        </Anchor>
        <div className={classes.about}>
          <Anchor component={Link} href={`/users/${quota.user_id}`} size="xs">
            User {quota.user_id}
          </Anchor>
        </div>
      </Table.Th>
      <Table.Td data-label="Reached">
        <div>
          <Badge tone={percent >= 100 ? 'bad' : 'held'}>{percent}%</Badge>
          <div className={classes.about}>
            <Timestamp at={at} />
          </div>
        </div>
      </Table.Td>
      <Table.Td data-label="Usage" className={classes.usage ?? ''}>
        <UsageBar {...quota} />
      </Table.Td>
      <Table.Td data-label={quota.period === null ? 'Ends' : 'Resets'}>
        <Timestamp at={quota.window_end} none="Never" />
      </Table.Td>
    </Table.Tr>
  )
}
