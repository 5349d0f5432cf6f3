import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Pager } from '../../components/pager.tsx'
import { Section } from '../../components/section.tsx'
import { Units } from '../../components/values.tsx'
import { countryLabel, formatPercent } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { denialsUrl, groupFilter } from '../../model/denial-filters.ts'
import type { UserCountry } from '../../model/shares.ts'
import { userCountriesQuery } from '../../queries/usage.ts'
import { texts } from '../../texts/texts.ts'

const words = texts.user.countries

const PAGE_SIZE = 5

/** Where the user's messages went in the last 30 days, most first. */
export default function Countries({ user }: { user: ViewedUser }) {
  const countries = useQuery(userCountriesQuery(user))
  const [page, setPage] = useState(1)
  return (
    <Section title={words.title}>
      <Loaded query={countries} loading={<Loading rows={3} height={34} />}>
        {({ from, rows }) =>
          rows.length === 0 ? (
            <EmptyState title={words.none} />
          ) : (
            <>
              <DataTable
                look="plain"
                label={words.title}
                columns={columnsOf(user, from)}
                rows={rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
                keyOf={({ country }) => country ?? ''}
              />
              {rows.length > PAGE_SIZE && (
                <Pager page={page} page_size={PAGE_SIZE} total={rows.length} onPage={setPage} />
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

function columnsOf(user: ViewedUser, from: string): Column<UserCountry>[] {
  const { columns } = words
  return [
    {
      label: columns.country,
      kind: 'name',
      cell: ({ country }) => (country === null ? texts.usage.without.country : countryLabel(country)),
    },
    {
      label: columns.sent,
      kind: 'number',
      cell: ({ sent, share }) => (
        <>
          <Units value={sent} /> <span className={tables.about}>{formatPercent(share)}</span>
        </>
      ),
    },
    {
      label: columns.denied,
      kind: 'number',
      cell: ({ country, denied }) =>
        denied === 0 ? (
          <Units value={0} />
        ) : (
          <Anchor component={Link} href={denialsUrl({ ...groupFilter('country', country), from }, user)} size="sm">
            <Units value={denied} />
          </Anchor>
        ),
    },
  ]
}
