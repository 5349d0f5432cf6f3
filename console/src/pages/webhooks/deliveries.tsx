import { Button, Group, NativeSelect } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { DELIVERY_STATUSES } from '../../../../src/domain/webhooks/webhook.ts'
import type { Api } from '../../api/types.ts'
import filters from '../../components/filters.module.css'
import { EmptyState } from '../../components/loaded.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { cursor, matching, oneOf } from '../../model/url-parameters.ts'
import { every, pageOf } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { DeliveryTable } from './delivery-table.tsx'

const DeliveryDrawer = lazy(() => import('./delivery-drawer.tsx'))
const ResendDialog = lazy(() => import('./resend-dialog.tsx'))

const STATE = { status: oneOf(DELIVERY_STATUSES, null), cursor, delivery: matching(/^evt_\d{1,2}_\d{1,16}$/) }
const PAGE_SIZE = 25
const { deliveries: words } = texts.webhooks

/** Deliveries of a webhook with their outcome. The open one is part of the URL. */
export default function Deliveries({ webhook }: { webhook: Api['Webhook'] }) {
  const { id } = webhook
  const [{ delivery, ...page }, change] = useUrlState(STATE)
  const mayResend = may(useCaller(), 'change')
  const deliveries = useQuery({
    ...pageOf('GET /admin/webhooks/{id}/deliveries', { id, query: { ...page, limit: PAGE_SIZE } }),
    // Attempts continue in the background.
    refetchInterval: every(5_000),
  })
  const [isResending, resending] = useDisclosure()
  return (
    <>
      <Group className={filters.filters} justify="space-between" align="flex-end">
        <NativeSelect
          label={words.status}
          size="xs"
          value={page.status ?? ''}
          data={[
            { value: '', label: words.all },
            ...DELIVERY_STATUSES.map(value => ({ value, label: words.statuses[value] })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            change({ status: DELIVERY_STATUSES.find(status => status === value) ?? null, cursor: null })
          }
        />
        {mayResend && (
          <Button variant="default" size="xs" onClick={resending.open}>
            {words.resendMany}
          </Button>
        )}
      </Group>
      <PagedList
        page={deliveries}
        rows={8}
        isFiltered={page.status !== null}
        none={<EmptyState title={words.none}>{words.aboutNone}</EmptyState>}
      >
        {(items, isStale) => (
          <DeliveryTable deliveries={items} isStale={isStale} onOpen={opened => change({ delivery: opened })} />
        )}
      </PagedList>
      <Suspense>
        {delivery !== null && (
          <DeliveryDrawer
            webhook={webhook}
            delivery={delivery}
            mayResend={mayResend}
            onClose={() => change({ delivery: null })}
          />
        )}
        {isResending && <ResendDialog id={id} onClose={resending.close} />}
      </Suspense>
    </>
  )
}
