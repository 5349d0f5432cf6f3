import { Anchor, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge, STATUS_LABELS } from '../../components/badge.tsx'
import { timeColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import type { Column } from '../../components/data-table.tsx'
import { MessageLink, QuotaName } from '../../components/links.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { useRowActions } from '../../components/row-actions.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
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
import { FirstRows } from './parts.tsx'

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
        <Group gap="md">
          <Anchor component={Link} href="/pauses" size="sm">
            {blocked.paused}
          </Anchor>
          <Anchor component={Link} href="/quotas?status=exhausted" size="sm">
            {blocked.exhaustedQuotas}
          </Anchor>
        </Group>
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
  return (
    <FirstRows
      list={title}
      label={title}
      columns={columnsOf(from, actions)}
      rows={users}
      keyOf={({ user_id }) => user_id}
    />
  )
}

function columnsOf(from: string, actions: Actions): Column<ShownUser>[] {
  const { columns, untilLifted, waitingDoesNotHelp } = texts.overview.blocked
  return [
    { label: columns.user, kind: 'user', cell: user => <Who user={user} /> },
    { label: columns.why, kind: 'name', cell: user => <Why user={user} actions={actions} /> },
    { label: columns.denied, kind: 'number', cell: user => <Denied user={user} from={from} /> },
    timeColumn(
      columns.until,
      ({ blocking }) => blockedUntil(blocking.denials[0] ?? null, blocking),
      ({ blocking }) => (blocking.isOnPurpose ? untilLifted : waitingDoesNotHelp),
    ),
  ]
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
            <UserLink user={user} unnamed={texts.overview.user(user.user_id)} inherit underline="always" />
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

function Who({ user }: { user: ShownUser }) {
  const { user_id, blocking } = user
  const [latest] = blocking.denials
  return (
    <>
      <UserLink user={user} unnamed={texts.overview.user(user.user_id)} fw={600} />
      {latest !== undefined && (
        <div className={`${classes.about} ${layout.latest}`}>
          {texts.overview.blocked.latest(<MessageLink user={{ user_id, isOwn: false }} id={latest.id} />)}
        </div>
      )}
    </>
  )
}

function Why({ user: { blocking, summary }, actions }: { user: ShownUser; actions: Actions }) {
  return (
    <>
      <Badge tone="bad">{whyText(blocking.denials[0] ?? null, blocking)}</Badge>
      {blocking.usedUp.map(quota => (
        <QuotaName key={quota.id} quota={quota} actions={actions(quota)} />
      ))}
      {blocking.blocks.map(quota => (
        <QuotaName key={quota.id} quota={quota} />
      ))}
      {summary?.denial === null && (
        <div className={classes.about}>{texts.overview.blocked.others(summary.available)}</div>
      )}
    </>
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
