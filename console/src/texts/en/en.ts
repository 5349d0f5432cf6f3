import { components } from './components.tsx'
import { quotas } from './quotas.tsx'
import { search } from './search.tsx'
import { session } from './session.tsx'
import { shell } from './shell.tsx'
import { start } from './start.tsx'
import { usage } from './usage.tsx'
import { user } from './user.tsx'
import { values } from './values.tsx'
import { webhooks } from './webhooks.tsx'

/**
 * The English texts that come with every page; those of single pages, such as `quota.ts`, come with them. The other
 * languages have the same keys.
 */
export const en = {
  components,
  quotas,
  search,
  session,
  shell,
  start,
  usage,
  user,
  values,
  webhooks,
}

export type Texts = typeof en
