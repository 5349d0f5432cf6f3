import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Api } from '../../api/types.ts'
import { unitsColumn } from '../../components/columns.tsx'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Actor, Timestamp } from '../../components/values.tsx'
import { rateCardsQuery } from '../../queries/rates.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { CardBadge } from './card-badge.tsx'

const NewCard = lazy(async () => ({ default: (await import('./card-dialogs.tsx')).NewCard }))

const { list } = texts.rates

/** The list of rate cards. */
export default function Prices() {
  const [, navigate] = useLocation()
  const [isMaking, setMaking] = useState(false)
  const cards = useQuery(rateCardsQuery())
  const mayChange = may(useCaller(), 'change')
  return (
    <>
      <PageTitle title={list.title} about={list.about}>
        {mayChange && (
          <Button size="xs" aria-haspopup="dialog" onClick={() => setMaking(true)}>
            {list.create}
          </Button>
        )}
      </PageTitle>
      <Loaded query={cards} loading={<Loading rows={5} height={44} />}>
        {rows =>
          rows.length === 0 ? (
            <EmptyState title={list.none}>{list.aboutNone}</EmptyState>
          ) : (
            <DataTable look="records" label={list.title} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      <Suspense>
        {isMaking && <NewCard onClose={() => setMaking(false)} onDone={({ id }) => navigate(`/prices/${id}`)} />}
      </Suspense>
    </>
  )
}

const COLUMNS: readonly Column<Api['RateCard']>[] = [
  {
    label: list.columns.card,
    cell: card => (
      <>
        <Anchor component={Link} href={`/prices/${card.id}`} size="sm" fw={600} className={tables.name}>
          <bdi>{card.name}</bdi>
        </Anchor>
        <div>
          <CardBadge card={card} />
        </div>
      </>
    ),
  },
  { label: list.columns.version, kind: 'number', cell: ({ version }) => version },
  unitsColumn(list.columns.lines, ({ lines }) => lines),
  {
    label: list.columns.changed,
    cell: ({ updated_at, updated_by }) => texts.rates.by(<Timestamp at={updated_at} />, <Actor subject={updated_by} />),
  },
]
