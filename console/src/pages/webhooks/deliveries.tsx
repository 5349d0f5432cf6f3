import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../parts/cursor-pager.tsx'
import { Empty } from '../../parts/empty.tsx'
import filters from '../../parts/filters.module.css'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Section } from '../../parts/section.tsx'
import { cursor, oneOf, useUrlState } from '../../parts/url-state.ts'
import { DeliveryTable } from './delivery-table.tsx'
import { DELIVERY_STATUSES, DELIVERY_WORDS } from './delivery-words.ts'
import { RedeliverSince } from './redeliver-since.tsx'
import { deliveriesKey } from './webhook-calls.ts'

const STATE = { status: oneOf(DELIVERY_STATUSES, null), cursor }
const PAGE_SIZE = 25
const EVERY_MS = 5_000

/** What was sent, and what became of it. */
export function Deliveries({ id }: { id: number }) {
  const [state, change] = useUrlState(STATE)
  const deliveries = useQuery({
    queryKey: [...deliveriesKey(id), state],
    queryFn: ({ signal }) => {
      const query = { ...state, limit: PAGE_SIZE }
      return request<Api['WebhookDeliveryPage']>(`/admin/webhooks/${id}/deliveries`, { query, signal })
    },
    placeholderData: keepPreviousData,
    // Attempts are made while one looks.
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? EVERY_MS,
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
            ...DELIVERY_STATUSES.map(value => ({ value, label: DELIVERY_WORDS[value] })),
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
              <Empty title="No deliveries here">
                {state.status === null && state.cursor === null
                  ? 'Events that happen from now on come here as they are sent. A test event does not.'
                  : 'None has this status.'}
              </Empty>
            ) : (
              <DeliveryTable webhookId={id} deliveries={items} isOld={deliveries.isPlaceholderData} />
            )}
            <CursorPager cursor={state.cursor} next={next_cursor} onCursor={cursor => change({ cursor })} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
