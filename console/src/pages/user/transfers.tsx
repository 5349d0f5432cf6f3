import { Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { timeColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/loaded.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { RowButton } from '../../components/row-button.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { Actor, Timestamp, Units } from '../../components/values.tsx'
import type { ViewedUser } from '../../model/addresses.ts'
import { giverOf, type Transfer, takerOf, transferableUnits } from '../../model/transfers.ts'
import { cursor } from '../../model/url-parameters.ts'
import { pageOf } from '../../queries/calls.ts'
import { givingGrantsQuery } from '../../queries/user.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { GrantAction } from './grant-action.tsx'
import { ReturnForm } from './return-form.tsx'

const { list: words, giveBack } = texts.transfers
const { columns } = words

const STATE = { cursor }
const ONE_LINE = { whiteSpace: 'nowrap' } as const

/** The transfers from and to a user, newest first, each with the way back. */
export default function Transfers({ user }: { user: ViewedUser }) {
  const { user_id } = user
  const [state] = useUrlState(STATE)
  const transfers = useQuery(
    pageOf('GET /admin/transfers', { query: state.cursor === null ? { user_id } : { cursor: state.cursor } }),
  )
  const [returned, setReturned] = useState<Transfer | null>(null)
  const [isOpen, setOpen] = useState(false)
  const [done, setDone] = useState('')
  const canChange = changesQuotas(useCaller())
  const { data: givingGrants = [] } = useQuery({ ...givingGrantsQuery(user), enabled: canChange })
  function open(transfer: Transfer) {
    setReturned(transfer)
    setOpen(true)
  }
  const close = () => setOpen(false)
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {words.about}
      </Text>
      <Group mb="sm">
        <GrantAction
          label={texts.dialogTitles.transfer.grant}
          action={{ name: 'transfer' }}
          grants={givingGrants}
          unitsOf={grant => transferableUnits(grant) ?? 0}
          onDone={setDone}
        />
      </Group>
      <p role="status">{done}</p>
      <PagedList page={transfers} none={<EmptyState title={words.none}>{words.noneAbout}</EmptyState>}>
        {(rows, isStale) => (
          <DataTable
            look="records"
            label={words.table}
            columns={columnsOf(user_id, canChange ? open : null)}
            keyOf={({ id }) => id}
            {...{ rows, isStale }}
          />
        )}
      </PagedList>
      <Dialog
        title={returned === null ? '' : giveBack[actionOf(returned, user_id)].title}
        isOpen={isOpen}
        onClose={close}
      >
        {returned !== null && (
          <ReturnForm transfer={returned} action={actionOf(returned, user_id)} onClose={close} onDone={setDone} />
        )}
      </Dialog>
    </>
  )
}

/** The giver takes units back, the receiver gives them. A user who is both gives them. */
function actionOf(transfer: Transfer, user_id: number): 'give' | 'take' {
  return transfer.to_user_id === user_id ? 'give' : 'take'
}

function columnsOf(user_id: number, onReturn: ((transfer: Transfer) => void) | null): Column<Transfer>[] {
  const action: Column<Transfer> = {
    label: columns.action,
    cardLabel: () => '',
    cell: transfer =>
      transfer.to_quota_id !== null &&
      transfer.returned < transfer.units && (
        <RowButton
          label={giveBack[actionOf(transfer, user_id)].of(transfer.units)}
          onClick={() => onReturn?.(transfer)}
        >
          {giveBack[actionOf(transfer, user_id)].submit}
        </RowButton>
      ),
  }
  return [
    { label: columns.with, kind: 'name', cell: transfer => <With transfer={transfer} user_id={user_id} /> },
    {
      label: columns.units,
      kind: 'number',
      cell: ({ units, returned }) => (
        <>
          <Units value={units} />
          {returned > 0 && (
            <div className={classes.about} style={ONE_LINE}>
              {words.returned(returned)}
            </div>
          )}
        </>
      ),
    },
    { label: columns.grants, cell: transfer => <Grants transfer={transfer} /> },
    { label: columns.reason, kind: 'name', cell: ({ reason }) => <bdi>{reason ?? '–'}</bdi> },
    timeColumn(
      columns.end,
      ({ expires_at }) => expires_at,
      () => words.never,
    ),
    {
      label: columns.made,
      kind: 'name',
      cell: ({ at, actor }) => words.by(<Timestamp at={at} />, <Actor subject={actor} />),
    },
    ...(onReturn === null ? [] : [action]),
  ]
}

/** The other user, and the direction in which the units went. */
function With({ transfer, user_id }: { transfer: Transfer; user_id: number }) {
  const taker = takerOf(transfer)
  if (transfer.user_id !== user_id) return words.from(<OtherUser user={giverOf(transfer)} />)
  if (taker === null) return words.to(words.erased)
  return taker.user_id === user_id ? words.within : words.to(<OtherUser user={taker} />)
}

function OtherUser({ user }: { user: ReturnType<typeof giverOf> }) {
  return (
    <UserLink
      user={user}
      unnamed={texts.transfers.user(user.user_id)}
      href={`/users/${user.user_id}/transfers`}
      fw={600}
    />
  )
}

function Grants({ transfer: { quota_id, to_quota_id } }: { transfer: Transfer }) {
  const to = to_quota_id === null ? words.erasedGrant : <GrantLink id={to_quota_id} />
  return words.grants(<GrantLink id={quota_id} />, to)
}

function GrantLink({ id }: { id: number }) {
  return (
    <Anchor component={Link} href={`/quotas/${id}`} size="sm" style={ONE_LINE}>
      {texts.values.unnamed('grant', id, false)}
    </Anchor>
  )
}
