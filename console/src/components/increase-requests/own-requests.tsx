import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { IncreaseRequest } from '../../model/increase-requests.ts'
import { cursor } from '../../model/url-parameters.ts'
import { every, pageOf, useChange } from '../../queries/calls.ts'
import { SUMMARY_MS } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { CursorPager } from '../cursor-pager.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { ErrorNotice } from '../error-notice.tsx'
import { Loaded } from '../loaded.tsx'
import { Section } from '../section.tsx'
import { useUrlState } from '../url-state.ts'
import { requestColumns } from './columns.tsx'

const words = texts.increaseRequests
const TAKE_BACK = 'DELETE /quota/requests/{id}'
const STATE = { requests: cursor }

/** The caller's own requests for more units; nothing before the first one. */
export default function OwnRequests() {
  const [state, change] = useUrlState(STATE)
  const [done, setDone] = useState('')
  const requests = useQuery({
    ...pageOf('GET /quota/requests', { query: { cursor: state.requests } }),
    // An answer is to be seen soon.
    refetchInterval: every(SUMMARY_MS),
  })
  const takingBack = useChange(TAKE_BACK, () => setDone(words.takenBack))
  return (
    <Loaded query={requests} loading={null}>
      {({ items, next_cursor }) =>
        (items.length > 0 || state.requests !== null) && (
          <Section title={words.ownTitle}>
            <Text size="sm" role="status">
              {done}
            </Text>
            <ErrorNotice variant="action" error={takingBack.error} />
            <DataTable
              label={words.ownTitle}
              columns={[...requestColumns(true), takeBackColumn(takingBack)]}
              rows={items}
              keyOf={({ id }) => id}
              isStale={requests.isPlaceholderData}
            />
            <CursorPager
              cursor={state.requests}
              next={requests.isPlaceholderData ? null : next_cursor}
              onCursor={next => change({ requests: next })}
            />
          </Section>
        )
      }
    </Loaded>
  )
}

function takeBackColumn({
  mutate,
  isPending,
  variables,
}: ReturnType<typeof useChange<typeof TAKE_BACK>>): Column<IncreaseRequest> {
  return {
    label: words.columns.action,
    cardLabel: () => '',
    cell: ({ id, status, units }) =>
      status === 'open' && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={words.takeBackOf(units)}
          loading={isPending && variables.id === id}
          onClick={() => mutate({ id })}
        >
          {words.takeBack}
        </Button>
      ),
  }
}
