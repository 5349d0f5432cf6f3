import { DESTINATIONS, type WebhookKind } from '../../../src/domain/webhook.ts'
import type { Api } from '../api/types.ts'

/** What the forms of a webhook ask for, by its kind, and what they send. */

export const hasAddresses = (kind: WebhookKind) => DESTINATIONS[kind] === 'addresses'

export const hasSecretUrl = (kind: WebhookKind) => DESTINATIONS[kind] === 'secret url'

/** What a save changes. A secret URL is not shown whole: an empty field leaves it as it is. */
export function changedSettings<Changes extends Partial<Pick<Api['Webhook'], 'url'>>>(
  kind: WebhookKind,
  { url, ...rest }: Changes,
) {
  return url === undefined || (url === '' && hasSecretUrl(kind)) ? rest : { ...rest, url }
}

/** The addresses of lines. */
export const writtenIn = (lines: readonly string[]): string[] =>
  lines.map(line => line.trim()).filter(line => line !== '')

/** What creates a webhook: the service refuses a URL beside addresses. */
export function webhookRequest<Settings extends Pick<Api['Webhook'], 'kind' | 'url' | 'addresses'>>({
  url,
  addresses,
  ...rest
}: Settings) {
  return hasAddresses(rest.kind) ? { ...rest, addresses: writtenIn(addresses ?? []) } : { ...rest, url: url ?? '' }
}
