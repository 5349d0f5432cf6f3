import type { Api } from '../api/types.ts'

/** Where a webhook writes to, as people recognize it. One of the kind `users` has neither: each user has an address. */
export const destinationOf = ({ url, addresses }: Pick<Api['Webhook'], 'url' | 'addresses'>) =>
  url ?? addresses?.join(', ') ?? 'users'
