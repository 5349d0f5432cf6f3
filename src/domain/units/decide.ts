import type { EpochMs } from '../time/time.ts'
import type { Command, ExpireCommand, FindCommand, Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { draw, type Enforcement } from './drawing.ts'
import { expireIfDue, settle, verify } from './settling.ts'

/**
 * Decides one command on its user's state, and updates the draft. The same draft, command and time always give the same
 * outcome: no I/O, no clock. The commands of a batch are decided one after the other, in the order of their arrival.
 */
export function decide(draft: Draft, command: Command, now: EpochMs, enforcement: Enforcement): Outcome {
  switch (command.op) {
    case 'check':
    case 'reserve':
    case 'consume':
      return draw(draft, command, now, enforcement)
    case 'commit':
    case 'release':
    case 'refund':
      return settle(draft, command, now)
    case 'feedback':
      return verify(draft, command, now)
    case 'expire':
    case 'find':
      return find(draft, command, now)
  }
}

/** Reads a reservation. Every command closes an expired reservation before anything else, so `expire` needs no more. */
function find(draft: Draft, command: ExpireCommand | FindCommand, now: EpochMs): Outcome {
  const reservation = expireIfDue(draft, command.id, now)
  if (reservation === undefined) return { outcome: 'not_found' }
  return { outcome: 'found', reservation, replayed: false }
}
