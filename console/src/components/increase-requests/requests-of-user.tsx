import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { currentRequests } from '../../model/increase-requests.ts'
import { requestsQuery } from '../../queries/increase-requests.ts'
import { adjustsQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { DataTable } from '../data-table.tsx'
import { Loaded } from '../loaded.tsx'
import { Section } from '../section.tsx'
import { requestColumns } from './columns.tsx'
import { type Deciding, decisionColumn } from './decisions.tsx'

const DecisionDialog = lazy(() => import('./decision-dialog.tsx'))

const words = texts.increaseRequests

/** The open requests of a user, and those that were closed lately, on the user's page; nothing while there are none. */
export default function RequestsOfUser({ user_id }: { user_id: number }) {
  const requests = useQuery(requestsQuery({ status: 'open', user_id }))
  const { data: latest } = useQuery(requestsQuery({ status: null, user_id }))
  const [deciding, setDeciding] = useState<Deciding | null>(null)
  const [done, setDone] = useState('')
  const caller = useCaller()
  const columns = requestColumns(false)
  return (
    <>
      {/* It stays when the last request is decided. */}
      <Text size="sm" role="status">
        {done}
      </Text>
      <Loaded query={requests} loading={null}>
        {({ items }) => {
          const rows = currentRequests(items, latest?.items ?? [], Date.now())
          return (
            rows.length > 0 && (
              <Section title={words.openTitle}>
                <DataTable
                  label={words.openTitle}
                  columns={
                    adjustsQuotas(caller) ? [...columns, decisionColumn(caller.adjust_limit, setDeciding)] : columns
                  }
                  rows={rows}
                  keyOf={({ id }) => id}
                />
              </Section>
            )
          )
        }}
      </Loaded>
      <Suspense>
        <DecisionDialog deciding={deciding} onClose={() => setDeciding(null)} onDone={setDone} />
      </Suspense>
    </>
  )
}
