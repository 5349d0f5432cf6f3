import { Anchor, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge } from '../../components/badge.tsx'
import { denialsUrl } from '../../components/denials/denials-state.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { MessageLink } from '../../components/message-link.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { Timestamp } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import { type Blocks, useBlocks } from '../../queries/overview.ts'
import { overviewTexts } from '../../texts/overview.ts'
import { texts } from '../../texts/texts.ts'
import { useFirstRows } from './parts.tsx'
import { QuotaName } from './quota-name.tsx'

type Denial = Api['DenialRecord']

/** A user whose messages are denied, or soon will be. */
interface BlockedUser {
  user_id: number
  /** Denials of the last hour as far as they were read, with those that the log left out. */
  denied: number
  latest: Denial | null
  usedUp: Api['SmsQuota'][]
}

/** Users whose messages are denied at present, those with most denials first. */
export function Blocked() {
  const blocks = useBlocks()
  const { blocked } = overviewTexts
  return (
    <Section
      isFramed
      title={blocked.title}
      aside={
        <Anchor component={Link} href="/quotas?status=exhausted" size="sm">
          {blocked.usedUpQuotas}
        </Anchor>
      }
    >
      <Loaded query={blocks} loading={<Loading rows={5} height={44} />}>
        {data => {
          const users = blockedUsersOf(data)
          return (
            <>
              {users.length === 0 ? (
                <EmptyState title={blocked.none}>{blocked.noneAbout}</EmptyState>
              ) : (
                <Users users={users} from={data.from} />
              )}
              {users.length > 0 && (
                <p className={classes.more}>
                  {blocked.about} {data.hasMore && blocked.bound}
                </p>
              )}
              <Announcement text={blocked.announcement(users.length)} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** Joins denials and used-up quotas by user. A quota with overage left is not used up at 100%. */
function blockedUsersOf({ alerts, denials }: Blocks): BlockedUser[] {
  const users = new Map<number, BlockedUser>()
  const entryOf = (user_id: number) => {
    const entry = users.get(user_id) ?? { user_id, denied: 0, latest: null, usedUp: [] }
    users.set(user_id, entry)
    return entry
  }
  // Newest first.
  for (const denial of denials) {
    const entry = entryOf(denial.user_id)
    entry.denied += 1 + (denial.skipped ?? 0)
    entry.latest ??= denial
  }
  for (const { quota } of alerts) {
    if (quota.status === 'exhausted') entryOf(quota.user_id).usedUp.push(quota)
  }
  return [...users.values()].toSorted((one, other) => other.denied - one.denied)
}

function Users({ users, from }: { users: readonly BlockedUser[]; from: string }) {
  const [shown, button] = useFirstRows(users)
  const { title, columns } = overviewTexts.blocked
  return (
    <>
      <Table className={`${classes.table} ${classes.cards}`} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{columns.user}</Table.Th>
            <Table.Th scope="col">{columns.why}</Table.Th>
            <Table.Th scope="col" className={classes.number ?? ''}>
              {columns.denied}
            </Table.Th>
            <Table.Th scope="col">{columns.until}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(user => (
            <Row key={user.user_id} user={user} from={from} />
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}

function Row({ user: { user_id, denied, latest, usedUp }, from }: { user: BlockedUser; from: string }) {
  const { columns, noDenials, latest: latestOf } = overviewTexts.blocked
  const viewed = { user_id, isOwn: false }
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
          {overviewTexts.user(user_id)}
        </Anchor>
        {latest !== null && (
          <div className={`${classes.about} ${classes.name}`}>
            {latestOf(<MessageLink user={viewed} id={latest.id} />)}
          </div>
        )}
      </Table.Th>
      <Table.Td data-label={columns.why}>
        <div>
          <Badge tone="bad">{latest === null ? overviewTexts.blocked.usedUp : whyOf(latest)}</Badge>
          {usedUp.map(quota => (
            <QuotaName key={quota.id} quota={quota} />
          ))}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.denied} className={classes.number ?? ''}>
        {denied === 0 ? (
          noDenials
        ) : (
          <Anchor component={Link} href={denialsUrl({ from }, viewed)} size="sm">
            {formatUnits(denied)}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td data-label={columns.until}>{untilOf(latest, usedUp)}</Table.Td>
    </Table.Tr>
  )
}

/** "Cap reached: otp, Nigeria (NG)" */
function whyOf({ reason, message_type, country }: Denial): string {
  const what = [message_type, country === null ? null : countryLabel(country)].filter(part => part !== null)
  const label = texts.values.denialReasons[reason]
  return what.length === 0 ? label : `${label}: ${what.join(', ')}`
}

/** When the latest denied message could be sent, or when the first used-up quota has units again. */
function untilOf(latest: Denial | null, usedUp: readonly Api['SmsQuota'][]): ReactNode {
  const ends = usedUp.map(({ window_end }) => window_end).filter(end => end !== null)
  const at = latest === null ? (ends.toSorted()[0] ?? null) : latest.retry_at
  return <Timestamp at={at} none={overviewTexts.blocked.waitingDoesNotHelp} />
}
