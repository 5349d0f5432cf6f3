import type { FastifyRequest } from 'fastify'
import type { Author } from '../../admin/author.ts'
import type { NotDone } from '../../admin/webhooks-once.ts'
import type { EpochMs } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import { principalOf } from '../auth/guard.ts'
import { keyMismatch } from '../platform/problems.ts'

/** Who makes a change, when, and by which request. */
export function writerOf(request: FastifyRequest, now: EpochMs): Author {
  return { now, actor: principalOf(request).subject, requestId: request.id }
}

/** Returns what a call has done. @throws Problem otherwise; `problemOfRefusal` is the one of a refusal */
export function doneOrThrow<Done extends { outcome: 'changed' | 'redelivered' }>(
  done: Done | NotDone,
  problemOfRefusal: () => Problem,
): Done {
  if (done.outcome === 'refused') throw problemOfRefusal()
  if (done.outcome === 'mismatch') throw keyMismatch(done.fields)
  return done
}

/** Returns what was found. @throws Problem `not_found` if the webhook does not exist */
export function foundOrThrow<T>(found: T | undefined, id: number): T {
  if (found === undefined) throw noSuchWebhook(id)
  return found
}

export function noSuchWebhook(id: number): Problem {
  return new Problem('not_found', `Webhook ${id} does not exist.`)
}
