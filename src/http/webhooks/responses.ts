import { Problem } from '../../errors.ts'

/** Returns what was found. @throws Problem `not_found` if the webhook does not exist */
export function foundOrThrow<T>(found: T | undefined, id: number): T {
  if (found === undefined) throw noSuchWebhook(id)
  return found
}

export function noSuchWebhook(id: number): Problem {
  return new Problem('not_found', `Webhook ${id} does not exist.`)
}
