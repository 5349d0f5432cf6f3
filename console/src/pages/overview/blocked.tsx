import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge, STATUS_LABELS } from '../../components/badge.tsx'
import { MessageLink, QuotaName } from '../../components/links.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { useRowActions } from '../../components/row-actions.tsx'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Timestamp } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import {
  type BlockedUser,
  type Blocking,
  type Blocks,
  blockedUntil,
  blockedUsersOf,
  deniedOf,
  groupsOf,
  type ShownUser,
  whyBlocked,
} from '../../model/blocked-users.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { useBlocks } from '../../queries/overview.ts'
import { useSummaries } from '../../queries/summaries.ts'
import { texts } from '../../texts/texts.ts'
import layout from './overview.module.css'
import { useFirstRows } from './parts.tsx'

type Denial = Api['DenialRecord']
type Quota = Api['SmsQuota']

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
  const { now, onPurpose, again } = groupsOf(read, summaries.data)
  return (
    <>
      {now.length === 0 ? (
        <EmptyState title={onPurpose.length === 0 ? blocked.none : blocked.noneElse}>
          {read.length === 0 && blocked.noneAbout}
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
      {read.length > 0 && (
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
            <Table.Th scope="col" className={classes.number}>
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
  const { columns, latest: latestOf, others, untilLifted, waitingDoesNotHelp } = texts.overview.blocked
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
          <Badge tone="bad">{whyText(latest, blocking)}</Badge>
          {blocking.usedUp.map(quota => (
            <QuotaName key={quota.id} quota={quota} actions={actions(quota)} />
          ))}
          {blocking.blocks.map(quota => (
            <QuotaName key={quota.id} quota={quota} />
          ))}
          {summary?.denial === null && <div className={classes.about}>{others(summary.available)}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.denied} className={classes.number}>
        <Denied user={user} from={from} />
      </Table.Td>
      <Table.Td data-label={columns.until}>
        <Timestamp at={blockedUntil(latest, blocking)} none={blocking.isOnPurpose ? untilLifted : waitingDoesNotHelp} />
      </Table.Td>
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

/** "Cap reached: otp, Nigeria (NG)" */
function whyText(latest: Denial | null, blocking: Blocking): string {
  const why = whyBlocked(latest, blocking)
  if (why === 'block') return texts.components.blocked
  if (why === 'exhausted') return STATUS_LABELS.exhausted
  const { reason, message_type, country } = why
  const what = [message_type, country === null ? null : countryLabel(country)].filter(part => part !== null)
  const label = texts.values.denialReasons[reason]
  return what.length === 0 ? label : `${label}: ${what.join(', ')}`
}
