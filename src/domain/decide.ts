import type { Command, ExpireCommand, FindCommand, Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { draw } from './drawing.ts'
import { expireIfDue, settle } from './settling.ts'
import type { EpochMs } from './time.ts'

/** How strictly limits hold. In observe mode everything is granted, and the answer says what would have been denied. */
export interface Enforcement {
  observe: boolean
}

/**
 * Decides one command on what is known of its user, and changes the draft to what then holds. The same draft, command
 * and moment always decide the same: no I/O, no clock. Commands of a batch are decided one after the other, in the
 * order they were given.
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
    case 'expire':
    case 'find':
      return find(draft, command, now)
  }
}

/** Whoever meets a reservation whose time has come closes it first: so to expire one is to look at it. */
function find(draft: Draft, command: ExpireCommand | FindCommand, now: EpochMs): Outcome {
  const reservation = expireIfDue(draft, command.id, now)
  if (reservation === undefined) return { outcome: 'not_found' }
  return { outcome: 'found', reservation, replayed: false }
}
