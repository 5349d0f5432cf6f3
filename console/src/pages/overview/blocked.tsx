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
import { isBlock, STATUS_LABELS } from '../../components/status-badge.tsx'
import { Timestamp } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import { type Blocks, useBlocks, useSummaries } from '../../queries/overview.ts'
import { overviewTexts } from '../../texts/overview.ts'
import { texts } from '../../texts/texts.ts'
import { type BlockedUser, blockedUsersOf, deniedOf, stillBlocking } from './blocked-users.ts'
import layout from './overview.module.css'
import { useFirstRows } from './parts.tsx'
import { QuotaName } from './quota-name.tsx'

type Denial = Api['DenialRecord']

/** What is shown of a user, and whether the user can send again. */
interface ShownUser extends BlockedUser {
  blocking: ReturnType<typeof stillBlocking>
  isBlocked: boolean
}

/** Users whose messages are denied at present, those with most denials first, then those who can send again. */
export function Blocked() {
  const blocks = useBlocks()
  const { blocked } = overviewTexts
  return (
    <Section
      isFramed
      title={blocked.title}
      aside={
        <Anchor component={Link} href="/quotas?status=exhausted" size="sm">
          {blocked.exhaustedQuotas}
        </Anchor>
      }
    >
      <Loaded query={blocks} loading={<Loading rows={5} height={44} />}>
        {data => <Content blocks={data} />}
      </Loaded>
    </Section>
  )
}

function Content({ blocks }: { blocks: Blocks }) {
  const found = blockedUsersOf(blocks)
  const summaries = useSummaries(found.map(({ user_id }) => user_id))
  const { blocked } = overviewTexts
  // Without the summaries, those who can send again would be shown as blocked for a moment.
  if (summaries.isPending) return <Loading rows={5} height={44} />
  const users = found
    .map((user): ShownUser => {
      const blocking = stillBlocking(user, summaries.data?.get(user.user_id))
      return { ...user, blocking, isBlocked: blocking.denials.length + blocking.usedUp.length > 0 }
    })
    .toSorted((one, other) => Number(other.isBlocked) - Number(one.isBlocked))
  return (
    <>
      {users.length === 0 ? (
        <EmptyState title={blocked.none}>{blocked.noneAbout}</EmptyState>
      ) : (
        <>
          <Users users={users} from={blocks.from} />
          <p className={classes.more}>
            {blocked.about} {blocks.hasMore && blocked.bound}
          </p>
        </>
      )}
      <Announcement text={blocked.announcement(users.filter(({ isBlocked }) => isBlocked).length)} />
    </>
  )
}

function Users({ users, from }: { users: readonly ShownUser[]; from: string }) {
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

function Row({ user, from }: { user: ShownUser; from: string }) {
  const { user_id, blocking, isBlocked } = user
  const { columns, latest: latestOf, canSend } = overviewTexts.blocked
  const [latest = null] = isBlocked ? blocking.denials : user.denials
  const viewed = { user_id, isOwn: false }
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
          {overviewTexts.user(user_id)}
        </Anchor>
        {latest !== null && (
          <div className={`${classes.about} ${layout.latest}`}>
            {latestOf(<MessageLink user={viewed} id={latest.id} />)}
          </div>
        )}
      </Table.Th>
      <Table.Td data-label={columns.why}>
        <div>
          {isBlocked ? (
            <Badge tone="bad">{whyOf(latest, blocking.usedUp)}</Badge>
          ) : (
            <Badge tone="good">{canSend}</Badge>
          )}
          {(isBlocked ? blocking.usedUp : user.usedUp).map(quota => (
            <QuotaName key={quota.id} quota={quota} />
          ))}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.denied} className={classes.number ?? ''}>
        <Denied user={user} from={from} />
      </Table.Td>
      <Table.Td data-label={columns.until}>{isBlocked ? untilOf(latest, blocking.usedUp) : '–'}</Table.Td>
    </Table.Tr>
  )
}

/** The number of denials, which leads to them. */
function Denied({ user, from }: { user: BlockedUser; from: string }) {
  const { noDenials, atLeast } = overviewTexts.blocked
  const { count, isAtLeast } = deniedOf(user)
  if (count === 0) return noDenials
  return (
    <Anchor component={Link} href={denialsUrl({ from }, { user_id: user.user_id, isOwn: false })} size="sm">
      {isAtLeast ? atLeast(count) : formatUnits(count)}
    </Anchor>
  )
}

/** "Cap reached: otp, Nigeria (NG)" @param denial null: only a quota is used up */
function whyOf(denial: Denial | null, usedUp: readonly Api['SmsQuota'][]): string {
  if (denial === null) return usedUp.every(isBlock) ? texts.components.blocked : STATUS_LABELS.exhausted
  const { reason, message_type, country } = denial
  const what = [message_type, country === null ? null : countryLabel(country)].filter(part => part !== null)
  const isByBlock = usedUp.some(quota => quota.id === denial.limiting_quota_id && isBlock(quota))
  const label = isByBlock ? texts.components.blocked : texts.values.denialReasons[reason]
  return what.length === 0 ? label : `${label}: ${what.join(', ')}`
}

/** When the latest denied message could be sent, or when the first used-up quota has units again. */
function untilOf(latest: Denial | null, usedUp: readonly Api['SmsQuota'][]): ReactNode {
  const ends = usedUp.map(({ window_end }) => window_end).filter(end => end !== null)
  const at = latest === null ? (ends.toSorted()[0] ?? null) : latest.retry_at
  return <Timestamp at={at} none={overviewTexts.blocked.waitingDoesNotHelp} />
}
