import type { Repeated } from '../../admin/idempotency.ts'
import type { PauseLifted, PauseMade } from '../../admin/pauses.ts'
import { MAX_PAUSES } from '../../domain/bounds.ts'
import type { Pause } from '../../domain/pause.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { refusal } from '../changes/responses.ts'
import { keyMismatch } from '../platform/problems.ts'

/** The pause that a call has made or lifted. @throws Problem for any other outcome */
export function pauseOrThrow(done: PauseMade | PauseLifted | Repeated<Pause>, id = 0): Pause {
  switch (done.outcome) {
    case 'created':
    case 'lifted':
    case 'unchanged':
      return done.pause
    case 'replayed':
      return done.answer
    case 'mismatch':
      throw keyMismatch(done.fields)
    case 'invalid':
      throw invalidRequest(done.issues)
    case 'too_many_pauses':
      throw new Problem('too_many_pauses', `${MAX_PAUSES} pauses are active already, the maximum.`)
    case 'being_erased':
      throw refusal(done)
    case 'not_found':
      throw noSuchPause(id)
  }
}

export function noSuchPause(id: number): Problem {
  return new Problem('not_found', `Pause ${id} does not exist.`)
}
