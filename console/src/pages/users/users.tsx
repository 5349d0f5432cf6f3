import { Anchor, Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { Link } from 'wouter'
import type { UserEntry } from '../../../../src/contract/users.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { Timestamp, Units } from '../../components/values.tsx'
import { formatDistance } from '../../formats.ts'
import { searchedReceiver } from '../../model/transfers.ts'
import { cursor, uint } from '../../model/url-parameters.ts'
import { userSearchQuery, usersQuery } from '../../queries/quotas.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'

const { users } = texts

const STATE = { cursor }

/** The directory of users: everyone about whose messages or quotas the service has stored something. */
export default function Users() {
  const [text, setText] = useState('')
  const trimmed = text.trim()
  // Rows follow the keys without holding them up.
  const searched = useDeferredValue(trimmed)
  return (
    <>
      <PageTitle title={users.title} about={users.about} />
      <search>
        <TextInput
          label={users.search}
          placeholder={users.searchHint}
          maxLength={128}
          maw="24rem"
          mb="md"
          value={text}
          onChange={event => setText(event.currentTarget.value)}
        />
      </search>
      {searched === '' ? <Directory /> : <Found text={searched} />}
    </>
  )
}

function Directory() {
  const [state, change] = useUrlState(STATE)
  const list = useQuery(usersQuery(state.cursor))
  return (
    <Loaded query={list} loading={<Loading rows={10} height={36} />}>
      {({ items, next_cursor }) => (
        <>
          {items.length === 0 ? (
            <EmptyState title={users.none}>{users.noneAbout}</EmptyState>
          ) : (
            <DataTable {...TABLE} rows={items} isStale={list.isPlaceholderData} />
          )}
          <CursorPager
            cursor={state.cursor}
            next={next_cursor}
            onCursor={next => change({ cursor: next })}
            labels={[texts.quotas.pages.first, texts.quotas.pages.next]}
          />
        </>
      )}
    </Loaded>
  )
}

/** The users whose id, reference or name begins so. An id that no user has is said to be unknown, with what one can do about it. */
function Found({ text }: { text: string }) {
  const found = useQuery(userSearchQuery(searchedReceiver(text)))
  const id = uint(text)
  return (
    <Loaded query={found} loading={<Loading rows={3} height={36} />}>
      {({ users: entries, hasMore }) => (
        <>
          {id !== null && !entries.some(({ user_id }) => user_id === id) && !found.isPlaceholderData && (
            <Unknown id={id} />
          )}
          {id === null && entries.length === 0 && <EmptyState title={users.notFound}>{users.notFoundAbout}</EmptyState>}
          {entries.length > 0 && <DataTable {...TABLE} rows={entries} isStale={found.isPlaceholderData} />}
          {hasMore && <p className={classes.about}>{users.more}</p>}
        </>
      )}
    </Loaded>
  )
}

function Unknown({ id }: { id: number }) {
  const canChange = may(useCaller(), 'change')
  return (
    <EmptyState title={users.unknown(id)}>
      {users.unknownAbout}
      {canChange && (
        <Button
          component={Link}
          href={`/quotas/new?user_id=${id}`}
          variant="default"
          size="xs"
          mt="xs"
          display="block"
          w="fit-content"
        >
          {users.createFor(id)}
        </Button>
      )}
    </EmptyState>
  )
}

const COLUMNS: readonly Column<UserEntry>[] = [
  {
    label: users.columns.user,
    kind: 'user',
    // The reference has a column of its own.
    cell: ({ user_id, user_name }) => <UserLink user={{ user_id, user_name }} fw={600} />,
  },
  { label: users.columns.reference, kind: 'name', cell: ({ user_ref }) => <bdi>{user_ref ?? '–'}</bdi> },
  {
    label: users.columns.quotas,
    cell: ({ user_id, quotas }) => (
      <Anchor component={Link} href={`/quotas?user_id=${user_id}`} size="sm">
        <Units value={quotas} />
      </Anchor>
    ),
  },
  {
    label: users.columns.lastActivity,
    cell: ({ last_activity_at: at }) => (
      <>
        <Timestamp at={at} none={users.never} />
        {at !== null && <span className={classes.about}> · {formatDistance(at, Date.now())}</span>}
      </>
    ),
  },
]

const TABLE = {
  label: users.title,
  look: 'records',
  columns: COLUMNS,
  keyOf: ({ user_id }: UserEntry) => user_id,
} as const
