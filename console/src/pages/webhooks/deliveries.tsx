import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import filters from '../../components/filters.module.css'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { cursor, oneOf, useUrlState } from '../../components/url-state.ts'
import { DELIVERY_STATUS_LABELS, DELIVERY_STATUSES } from './delivery-labels.ts'
import { DeliveryTable } from './delivery-table.tsx'
import { RedeliverSince } from './redeliver-since.tsx'
import { deliveriesKey } from './webhook-queries.ts'

const STATE = { status: oneOf(DELIVERY_STATUSES, null), cursor }
const PAGE_SIZE = 25
const INTERVAL_MS = 5_000

/** Deliveries of a webhook with their outcome. */
export function Deliveries({ id }: { id: number }) {
  const [state, change] = useUrlState(STATE)
  const deliveries = useQuery({
    queryKey: [...deliveriesKey(id), state],
    queryFn: ({ signal }) => {
      const query = { ...state, limit: PAGE_SIZE }
      return request<Api['WebhookDeliveryPage']>(`/admin/webhooks/${id}/deliveries`, { query, signal })
    },
    placeholderData: keepPreviousData,
    // Attempts continue in the background.
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? INTERVAL_MS,
  })
  return (
    <Section isFramed title="Deliveries">
      <div className={filters.filters}>
        <NativeSelect
          label="Status"
          size="xs"
          value={state.status ?? ''}
          data={[
            { value: '', label: 'All' },
            ...DELIVERY_STATUSES.map(value => ({ value, label: DELIVERY_STATUS_LABELS[value] })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            change({ status: DELIVERY_STATUSES.find(status => status === value) ?? null, cursor: null })
          }
        />
        <RedeliverSince id={id} />
      </div>
      <Loaded query={deliveries} loading={<Loading rows={5} height={40} />}>
        {({ items, next_cursor }) => (
          <>
            {items.length === 0 ? (
              <EmptyState title="No deliveries">
                {state.status === null && state.cursor === null
                  ? 'New events appear here when they are sent. Test events do not appear.'
                  : 'No delivery has this status.'}
              </EmptyState>
            ) : (
              <DeliveryTable webhookId={id} deliveries={items} isStale={deliveries.isPlaceholderData} />
            )}
            <CursorPager cursor={state.cursor} next={next_cursor} onCursor={cursor => change({ cursor })} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
