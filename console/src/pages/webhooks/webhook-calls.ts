import { request } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Api } from '../../api/types.ts'

type Webhook = Api['Webhook']

export const webhookKey = (id: number) => ['webhooks', id]
export const deliveriesKey = (id: number) => ['webhooks', id, 'deliveries']

/** What is omitted stays. */
export function updateWebhook(
  id: number,
  change: Partial<Pick<Webhook, 'url' | 'types' | 'description' | 'enabled'>>,
): Promise<Webhook> {
  return request<Webhook>(`/admin/webhooks/${id}`, { method: 'PUT', body: change })
}

/** Shows a webhook as a change has left it. */
export function keepWebhook(webhook: Webhook): void {
  queries.setQueryData(webhookKey(webhook.id), webhook)
  void queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })
  void queries.invalidateQueries({ queryKey: deliveriesKey(webhook.id) })
}
