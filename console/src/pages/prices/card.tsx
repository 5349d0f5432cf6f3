import { Anchor, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link, useParams } from 'wouter'
import { isNotFound } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { timeColumn, unitsColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Section } from '../../components/section.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor, Timestamp } from '../../components/values.tsx'
import { uint } from '../../model/url-parameters.ts'
import { queryOf } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { CardBadge } from './card-badge.tsx'
import { Lines, LookUp } from './lines.tsx'

const EditCard = lazy(async () => ({ default: (await import('./card-dialogs.tsx')).EditCard }))
const ArchiveCard = lazy(async () => ({ default: (await import('./card-dialogs.tsx')).ArchiveCard }))
const ChangePrices = lazy(() => import('./change-prices.tsx'))

const words = texts.rates
type Card = Api['RateCardDetail']
type List = Card['lists'][number]

/** A rate card: who has it, its prices, and their versions. */
export default function CardPage() {
  const id = uint(useParams().id ?? null)
  return id === null ? <NotFound /> : <Frame key={id} id={id} />
}

function Frame({ id }: { id: number }) {
  const card = useQuery(queryOf('GET /admin/rate-cards/{id}', { id }))
  const canChange = may(useCaller(), 'change') && card.data?.archived === false
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null)
  if (isNotFound(card.error)) return <NotFound />
  const close = () => setOpen(null)
  return (
    <>
      <PageTitle title={card.data?.name ?? words.card} about={card.data && <About card={card.data} />}>
        {canChange && (
          <>
            <Button variant="default" size="xs" aria-haspopup="dialog" onClick={() => setOpen('edit')}>
              {words.form.edit}
            </Button>
            <Button variant="outline" color="red" size="xs" aria-haspopup="dialog" onClick={() => setOpen('archive')}>
              {words.archival.open}
            </Button>
          </>
        )}
      </PageTitle>
      <Loaded query={card} loading={<Loading rows={8} height={40} />}>
        {data => (
          <>
            <Content card={data} canChange={canChange} />
            <Suspense>
              {open === 'edit' && <EditCard card={data} onClose={close} />}
              {open === 'archive' && <ArchiveCard card={data} onClose={close} />}
            </Suspense>
          </>
        )}
      </Loaded>
    </>
  )
}

function About({ card }: { card: Card }) {
  return (
    <>
      <CardBadge card={card} />
      {(card.is_default || card.archived) && ' · '}
      {words.about(card.version, <Timestamp at={card.updated_at} />)}
    </>
  )
}

const STATE = { version: uint }

function Content({ card, canChange }: { card: Card; canChange: boolean }) {
  const [state] = useUrlState(STATE)
  const { id, plans, users, is_default, archived, lists } = card
  const list = lists.find(({ version }) => version === state.version) ?? lists.find(({ state }) => state === 'holds')
  return (
    <>
      <Text size="sm" mb="lg">
        {archived ? words.archivedAbout : words.has(plans, users, is_default)} {canChange && words.give}
      </Text>
      {list !== undefined && (
        <>
          <Section title={words.lookUp.title}>
            <LookUp key={list.version} id={id} version={list.version} />
          </Section>
          <Section title={words.lines.title(list.version)}>
            <Lines id={id} version={list.version} />
          </Section>
        </>
      )}
      {canChange && (
        <Section title={words.change.title}>
          <Suspense fallback={<Loading rows={4} height={44} />}>
            <ChangePrices id={id} />
          </Suspense>
        </Section>
      )}
      <Section title={words.versions.title}>
        <DataTable label={words.versions.title} columns={columnsOf(id)} rows={lists} keyOf={({ version }) => version} />
      </Section>
    </>
  )
}

const TONES: Record<List['state'], Tone> = { holds: 'good', upcoming: 'coming', past: 'over' }

const { columns, states } = words.versions

function columnsOf(id: number): Column<List>[] {
  return [
    {
      label: columns.version,
      cell: ({ version }) => (
        <Anchor component={Link} href={`/prices/${id}?version=${version}`} size="sm">
          {version}
        </Anchor>
      ),
    },
    { label: columns.state, kind: 'state', cell: ({ state }) => <Badge tone={TONES[state]}>{states[state]}</Badge> },
    timeColumn(columns.from, ({ valid_from }) => valid_from),
    unitsColumn(columns.lines, ({ lines }) => lines),
    {
      label: columns.by,
      cell: ({ created_at, created_by }) => words.by(<Timestamp at={created_at} />, <Actor subject={created_by} />),
    },
  ]
}
