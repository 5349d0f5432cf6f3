import { request } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { Api } from '../../api/types.ts'

type Webhook = Api['Webhook']

export const webhookKey = (id: number) => ['webhooks', id]
export const deliveriesKey = (id: number) => ['webhooks', id, 'deliveries']

/** Omitted fields keep their values. */
export function updateWebhook(
  id: number,
  change: Partial<Pick<Webhook, 'url' | 'types' | 'description' | 'enabled'>>,
): Promise<Webhook> {
  return request<Webhook>(`/admin/webhooks/${id}`, { method: 'PUT', body: change })
}

/** Updates the cache after a change of a webhook. */
export function cacheWebhook(webhook: Webhook): void {
  queryClient.setQueryData(webhookKey(webhook.id), webhook)
  void queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] })
  void queryClient.invalidateQueries({ queryKey: deliveriesKey(webhook.id) })
}
