import { Anchor } from '@mantine/core'
import { useMemo } from 'react'
import { Link, useSearch } from 'wouter'
import { Badge, ReservationBadge } from '../../components/badge.tsx'
import { unitsColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { PrincipalName, TimeToTheSecond } from '../../components/values.tsx'
import { countryLabel } from '../../formats.ts'
import { messageUrl } from '../../model/addresses.ts'
import type { Message } from '../../model/messages.ts'
import { texts } from '../../texts/texts.ts'
import classes from './messages.module.css'

interface TableProps {
  messages: readonly Message[]
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

/** Messages in rows of one line. A row opens the life of the message, or why it was denied. */
export function MessageTable({ messages, isStale }: TableProps) {
  const search = useSearch()
  const columns = useMemo(() => columnsOf(search), [search])
  return (
    <DataTable
      look="records"
      className={classes.table}
      label={texts.messages.table}
      columns={columns}
      rows={messages}
      keyOf={keyOf}
      isStale={isStale}
    />
  )
}

function keyOf({ kind, record }: Message): string {
  return kind === 'denied' ? record.denial_id : `${record.user_id} ${record.id}`
}

/** @param search of the page, to which closing an explanation leads back */
function columnsOf(search: string): Column<Message>[] {
  const { columns } = texts.messages
  return [
    { label: columns.message, cell: message => <Open message={message} search={search} /> },
    {
      label: columns.user,
      cell: ({ record }) => <UserLink user={record} />,
    },
    { label: columns.time, cell: ({ at }) => <TimeToTheSecond at={at} /> },
    { label: columns.state, cell: message => <State message={message} /> },
    unitsColumn(columns.units, ({ record }) => record.units),
    { label: columns.destination, cell: ({ record }) => destinationText(record) },
    { label: columns.sender, cell: message => <SenderOf message={message} /> },
  ]
}

function Open({ message: { kind, record }, search }: { message: Message; search: string }) {
  const { id, user_id } = record
  const look = { component: Link, size: 'sm', fw: 600, className: classes.open } as const
  if (kind === 'sent')
    return (
      <Anchor {...look} href={messageUrl({ user_id, isOwn: false }, id)}>
        <bdi>{id}</bdi>
      </Anchor>
    )
  const query = new URLSearchParams(search)
  query.set('denial', record.denial_id)
  return (
    <Anchor {...look} href={`/messages?${query}`} aria-haspopup="dialog" aria-label={texts.denials.explainMessage(id)}>
      <bdi>{id}</bdi>
    </Anchor>
  )
}

function State({ message: { kind, record } }: { message: Message }) {
  if (kind === 'sent') return <ReservationBadge state={record.state} isOwn={false} />
  return <Badge tone="bad">{texts.denials.message.denied(texts.values.denialReasons[record.reason])}</Badge>
}

function destinationText({ country, message_type }: Message['record']): string {
  const place = country === null ? texts.denials.noCountry : countryLabel(country)
  return message_type === null ? place : `${place} · ${message_type}`
}

function SenderOf({ message: { kind, record } }: { message: Message }) {
  const subject = (kind === 'sent' ? record.made_by : record.sender) ?? null
  return subject === null ? '–' : <PrincipalName subject={subject} />
}
