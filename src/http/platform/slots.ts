import type { FastifyReply } from 'fastify'
import { Problem } from '../../errors.ts'
import { whenClosed } from './when-closed.ts'

/** Bounds how many long calls of a kind run at a time in a process. */
export interface Slots {
  /**
   * Takes a slot for the principal of the request, until the response has ended or its connection is closed.
   * @throws Problem `overloaded` if none is free, or the principal has its share
   */
  hold(reply: FastifyReply): void
}

/** What a principal may have, so that one does not keep all others from theirs. */
const MAX_OF_PRINCIPAL = 2

/** @param what runs, in the plural, as a refusal names it */
export function createSlots(max: number, what: string): Slots {
  /** The slots of each principal that has any. */
  const heldBy = new Map<string, number>()

  function add(principal: string, slots: number): void {
    const held = (heldBy.get(principal) ?? 0) + slots
    if (held === 0) heldBy.delete(principal)
    else heldBy.set(principal, held)
  }

  return {
    hold(reply) {
      const principal = reply.request.principal?.subject ?? ''
      const held = heldBy.values().reduce((sum, slots) => sum + slots, 0)
      if (held >= max) throw overloaded(`At most ${max} ${what} run at a time.`)
      if ((heldBy.get(principal) ?? 0) >= MAX_OF_PRINCIPAL) {
        throw overloaded(`At most ${MAX_OF_PRINCIPAL} ${what} of a principal run at a time.`)
      }
      add(principal, 1)
      whenClosed(reply.raw, () => add(principal, -1))
    },
  }
}

function overloaded(detail: string): Problem {
  return new Problem('overloaded', `${detail} Nothing was done; repeat the call.`)
}
