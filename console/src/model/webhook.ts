import type { Api } from '../api/types.ts'

/** Where a webhook writes to, as people recognize it. */
export const destinationOf = ({ url, addresses }: Pick<Api['Webhook'], 'url' | 'addresses'>) =>
  url ?? addresses?.join(', ') ?? ''
