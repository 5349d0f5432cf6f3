import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge, isBlock, STATUS_LABELS } from '../../components/badge.tsx'
import { denialsUrl } from '../../components/denials/denials-state.ts'
import { MessageLink, QuotaName } from '../../components/links.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { useRowActions } from '../../components/row-actions.tsx'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Timestamp } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import { type Blocks, useBlocks } from '../../queries/overview.ts'
import { useSummaries } from '../../queries/summaries.ts'
import { texts } from '../../texts/texts.ts'
import { type BlockedUser, type Blocking, blockedUsersOf, deniedOf, stillBlocking } from './blocked-users.ts'
import layout from './overview.module.css'
import { useFirstRows } from './parts.tsx'

type Denial = Api['DenialRecord']
type Quota = Api['SmsQuota']

/** A user with what still blocks. */
interface ShownUser extends BlockedUser {
  blocking: Blocking
  summary: Api['QuotaSummary'] | undefined
}

/** Users whose messages are denied at present, those with most denials first; apart, those blocked on purpose or able to send again. */
export function Blocked() {
  const blocks = useBlocks()
  const { actions, outcome, menu } = useRowActions()
  const { blocked } = texts.overview
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
      {outcome}
      <Loaded query={blocks} loading={<Loading rows={5} height={44} />}>
        {data => <Content blocks={data} actions={actions} />}
      </Loaded>
      {menu}
    </Section>
  )
}

/** What can be done to a quota that blocks. */
type Actions = (quota: Quota) => ReactNode

function Content({ blocks, actions }: { blocks: Blocks; actions: Actions }) {
  const found = blockedUsersOf(blocks)
  const summaries = useSummaries(
    'blocked',
    found.map(({ user_id }) => user_id),
  )
  const { blocked } = texts.overview
  // Until summaries are read, users who can send again or are blocked on purpose would be shown as blocked by mistake.
  if (summaries.isPending) return <Loading rows={5} height={44} />
  const read = found.filter(({ user_id }) => !summaries.loading.has(user_id))
  const users = read.map((user): ShownUser => {
    const summary = summaries.data.get(user.user_id)
    return { ...user, summary, blocking: stillBlocking(user, summary) }
  })
  const isBlocked = ({ blocking: { denials, usedUp } }: ShownUser) => denials.length + usedUp.length > 0
  const again = users.filter(user => !isBlocked(user))
  const now = users.filter(user => isBlocked(user) && !user.blocking.isOnPurpose)
  const onPurpose = users.filter(user => isBlocked(user) && user.blocking.isOnPurpose)
  return (
    <>
      {now.length === 0 ? (
        <EmptyState title={onPurpose.length === 0 ? blocked.none : blocked.noneElse}>
          {users.length === 0 && blocked.noneAbout}
        </EmptyState>
      ) : (
        <Users title={blocked.title} users={now} from={blocks.from} actions={actions} />
      )}
      {onPurpose.length > 0 && (
        <details className={classes.more}>
          <summary>{blocked.onPurpose(onPurpose.length)}</summary>
          <Users title={blocked.onPurposeTitle} users={onPurpose} from={blocks.from} actions={actions} />
        </details>
      )}
      {again.length > 0 && <CanSendAgain users={again} from={blocks.from} />}
      {users.length > 0 && (
        <p className={classes.more}>
          {blocked.about} {blocks.hasMore && blocked.bound}
        </p>
      )}
      <Announcement text={blocked.announcement(now.length)} />
    </>
  )
}

interface UsersProps {
  title: string
  users: readonly ShownUser[]
  from: string
  actions: Actions
}

function Users({ title, users, from, actions }: UsersProps) {
  const [shown, button] = useFirstRows(title, users)
  const { columns } = texts.overview.blocked
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
            <Row key={user.user_id} user={user} from={from} actions={actions} />
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}

/** Users who were denied messages in the last hour that would be granted now. */
function CanSendAgain({ users, from }: { users: readonly BlockedUser[]; from: string }) {
  const { canSendAgain, columns } = texts.overview.blocked
  return (
    <details className={classes.more}>
      <summary>{canSendAgain(users.length)}</summary>
      <ul className={layout.again}>
        {users.map(user => (
          <li key={user.user_id}>
            <Anchor component={Link} href={`/users/${user.user_id}`} inherit underline="always">
              {texts.overview.user(user.user_id)}
            </Anchor>
            {user.denials.length > 0 && (
              <>
                {' · '}
                {columns.denied}: <Denied user={user} from={from} />
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

function Row({ user, from, actions }: { user: ShownUser; from: string; actions: Actions }) {
  const { user_id, blocking, summary } = user
  const { columns, latest: latestOf, others } = texts.overview.blocked
  const [latest = null] = blocking.denials
  const viewed = { user_id, isOwn: false }
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
          {texts.overview.user(user_id)}
        </Anchor>
        {latest !== null && (
          <div className={`${classes.about} ${layout.latest}`}>
            {latestOf(<MessageLink user={viewed} id={latest.id} />)}
          </div>
        )}
      </Table.Th>
      <Table.Td data-label={columns.why}>
        <div>
          <Badge tone="bad">{whyOf(latest, blocking)}</Badge>
          {blocking.usedUp.map(quota => (
            <QuotaName key={quota.id} quota={quota} actions={actions(quota)} />
          ))}
          {blocking.blocks.map(quota => (
            <QuotaName key={quota.id} quota={quota} />
          ))}
          {summary?.denial === null && <div className={classes.about}>{others(summary.available)}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.denied} className={classes.number ?? ''}>
        <Denied user={user} from={from} />
      </Table.Td>
      <Table.Td data-label={columns.until}>{untilOf(latest, blocking)}</Table.Td>
    </Table.Tr>
  )
}

/** The number of denials, which leads to them. */
function Denied({ user, from }: { user: BlockedUser; from: string }) {
  const { noDenials, atLeast } = texts.overview.blocked
  const { count, isAtLeast } = deniedOf(user)
  if (count === 0) return noDenials
  return (
    <Anchor
      component={Link}
      href={denialsUrl({ from }, { user_id: user.user_id, isOwn: false })}
      inherit
      underline="always"
    >
      {isAtLeast ? atLeast(count) : formatUnits(count)}
    </Anchor>
  )
}

/** "Cap reached: otp, Nigeria (NG)" @param denial null: only a quota is used up */
function whyOf(denial: Denial | null, { usedUp, isByBlock }: Blocking): string {
  if (denial === null) return usedUp.every(isBlock) ? texts.components.blocked : STATUS_LABELS.exhausted
  const { reason, message_type, country } = denial
  // Its cap, which stands below, may block more than the latest message.
  if (isByBlock(denial)) return texts.components.blocked
  const what = [message_type, country === null ? null : countryLabel(country)].filter(part => part !== null)
  const label = texts.values.denialReasons[reason]
  return what.length === 0 ? label : `${label}: ${what.join(', ')}`
}

/** When the latest denied message could be sent, or when the first used-up quota has units again. */
function untilOf(latest: Denial | null, { usedUp, isOnPurpose }: Blocking): ReactNode {
  const ends = usedUp.map(({ window_end }) => window_end).filter(end => end !== null)
  const at = latest === null ? (ends.toSorted()[0] ?? null) : latest.retry_at
  const { untilLifted, waitingDoesNotHelp } = texts.overview.blocked
  return <Timestamp at={at} none={isOnPurpose ? untilLifted : waitingDoesNotHelp} />
}
