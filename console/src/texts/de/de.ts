import type { Texts } from '../en/en.ts'
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

/** The German texts. */
export const de: Texts = {
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
