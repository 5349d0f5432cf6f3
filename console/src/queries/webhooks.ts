import { keepPreviousData, mutationOptions, queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { retryDelayOf } from '../api/problem.ts'
import { queryClient } from '../api/query-client.ts'
import type { Api } from '../api/types.ts'
import type { WebhookSettings, webhookRequest } from '../model/webhook-form.ts'
import { request } from '../session/client.ts'
import { changesKey } from './recorded-changes.ts'

type Webhook = Api['Webhook']

const LIST = ['webhooks', 'list']
const webhookKey = (id: number) => ['webhooks', id]
const deliveriesKey = (id: number) => ['webhooks', id, 'deliveries']

/** Attempts continue in the background. */
const INTERVAL_MS = 5_000
const DELIVERIES_PAGE_SIZE = 25

/** There are at most 100. */
export function webhooksQuery() {
  return queryOptions({
    queryKey: LIST,
    queryFn: ({ signal }) => request<Api['WebhookList']>('/admin/webhooks', { signal }),
  })
}

/** The latest events, as many as a page holds, oldest first: which of them a webhook would receive says what its settings come to. */
export function latestEventsQuery() {
  return queryOptions({
    queryKey: [...LIST, 'latest-events'],
    queryFn: ({ signal }) => {
      const query = { last: MAX_PAGE_SIZE, limit: MAX_PAGE_SIZE }
      return request<Api['EventPage']>('/admin/events', { query, signal })
    },
  })
}

export function webhookQuery(id: number) {
  return queryOptions({
    queryKey: webhookKey(id),
    queryFn: ({ signal }) => request<Webhook>(`/admin/webhooks/${id}`, { signal }),
  })
}

/** A page of deliveries, newest first. */
export function deliveriesQuery(
  id: number,
  page: { status: Api['WebhookDelivery']['status'] | null; cursor: string | null },
) {
  return queryOptions({
    queryKey: [...deliveriesKey(id), 'list', page],
    queryFn: ({ signal }) => {
      const query = { ...page, limit: DELIVERIES_PAGE_SIZE }
      return request<Api['WebhookDeliveryPage']>(`/admin/webhooks/${id}/deliveries`, { query, signal })
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? INTERVAL_MS,
  })
}

/** One delivery with what it posts. It is read again until it has ended. */
export function deliveryQuery(id: number, delivery: string) {
  return queryOptions({
    queryKey: [...deliveriesKey(id), delivery],
    queryFn: ({ signal }) =>
      request<Api['WebhookDeliveryDetail']>(`/admin/webhooks/${id}/deliveries/${delivery}`, { signal }),
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? (data?.status === 'pending' ? INTERVAL_MS : false),
  })
}

export const createWebhook = mutationOptions({
  mutationFn: (body: ReturnType<typeof webhookRequest>) =>
    request<Api['WebhookWithSecret']>('/admin/webhooks', { method: 'POST', body }),
  onSuccess: () => queryClient.invalidateQueries({ queryKey: LIST }),
})

/** Omitted fields keep their values, so that concurrent changes of other fields are kept. */
export function updateWebhook(id: number) {
  return mutationOptions({
    mutationFn: (body: WebhookSettings | Pick<Webhook, 'enabled'>) =>
      request<Webhook>(`/admin/webhooks/${id}`, { method: 'PUT', body }),
    onSuccess: cacheWebhook,
  })
}

export function rotateSecret(id: number) {
  return mutationOptions({
    mutationFn: () => request<Api['WebhookWithSecret']>(`/admin/webhooks/${id}/rotate-secret`, { method: 'POST' }),
    onSuccess: ({ secret: _, ...webhook }) => cacheWebhook(webhook),
  })
}

/** Its page must be left on success. */
export function deleteWebhook(id: number) {
  return mutationOptions({
    mutationFn: () => request(`/admin/webhooks/${id}`, { method: 'DELETE' }),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: webhookKey(id) })
      void queryClient.invalidateQueries({ queryKey: LIST })
    },
  })
}

export function testWebhook(id: number) {
  return mutationOptions({
    mutationFn: () => request<Api['WebhookAttempt']>(`/admin/webhooks/${id}/test`, { method: 'POST' }),
  })
}

/** Sends one event again. */
export function resendDelivery(id: number) {
  return mutationOptions({
    mutationFn: (delivery: string) =>
      request<Api['Redelivered']>(`/admin/webhooks/${id}/deliveries/${delivery}/redeliver`, { method: 'POST' }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: deliveriesKey(id) }),
  })
}

/** Sends the events since a time again: all, or those whose delivery has failed. */
export function resendSince(id: number) {
  return mutationOptions({
    mutationFn: (body: { since: string; status?: 'failed' }) =>
      request<Api['Redelivered']>(`/admin/webhooks/${id}/redeliver`, { method: 'POST', body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: deliveriesKey(id) }),
  })
}

function cacheWebhook(webhook: Webhook): void {
  queryClient.setQueryData(webhookKey(webhook.id), webhook)
  void queryClient.invalidateQueries({ queryKey: LIST })
  void queryClient.invalidateQueries({ queryKey: deliveriesKey(webhook.id) })
  void queryClient.invalidateQueries({ queryKey: changesKey('webhooks', webhook.id) })
}
