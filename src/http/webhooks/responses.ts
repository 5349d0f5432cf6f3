import { Problem } from '../../errors.ts'

/** What was found of a webhook. @throws Problem `not_found` if there is no such webhook */
export function foundOrThrow<T>(found: T | undefined, id: number): T {
  if (found === undefined) throw noSuchWebhook(id)
  return found
}

export function noSuchWebhook(id: number): Problem {
  return new Problem('not_found', `Webhook ${id} does not exist.`)
}
