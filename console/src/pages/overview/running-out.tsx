import { Anchor, Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOfQuota } from '../../parts/quota-words.ts'
import classes from '../../parts/rows.module.css'
import { Section } from '../../parts/section.tsx'
import { UsageBar } from '../../parts/usage-bar.tsx'
import { MAX_ALERTS, useAlerts } from './figures.ts'

type Alert = Api['QuotaAlerts']['items'][number]

/** Whose quotas have reached a percent that somebody wants to hear of. */
export function RunningOut() {
  const alerts = useAlerts()
  return (
    <Section isFramed title="About to run out">
      <Loaded query={alerts} loading={<Loading rows={4} height={44} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nobody is about to run out">
              Quotas come here when they reach a percent that they are to be told of: 80 and 100, unless set otherwise.
            </Empty>
          ) : (
            <>
              <Alerts alerts={items} />
              {items.length === MAX_ALERTS && <p className={classes.more}>These are the latest {MAX_ALERTS}.</p>}
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
          <Table.Th scope="col">Starts anew</Table.Th>
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
          {nameOfQuota(quota)}
        </Anchor>
        <div className={classes.about}>
          <Anchor component={Link} href={`/users/${quota.user_id}`} size="xs">
            User {quota.user_id}
          </Anchor>
        </div>
      </Table.Th>
      <Table.Td data-label="Reached">
        <div>
          <Badge tone={percent >= 100 ? 'bad' : 'held'}>{percent} %</Badge>
          <div className={classes.about}>
            <Moment at={at} />
          </div>
        </div>
      </Table.Td>
      <Table.Td data-label="Usage" className={classes.usage ?? ''}>
        <UsageBar {...quota} />
      </Table.Td>
      <Table.Td data-label={quota.period === null ? 'Ends' : 'Starts anew'}>
        <Moment at={quota.window_end} none="Never" />
      </Table.Td>
    </Table.Tr>
  )
}
