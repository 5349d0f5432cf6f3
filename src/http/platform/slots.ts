import type { FastifyReply } from 'fastify'
import { Problem } from '../../errors.ts'

/** Bounds how many long calls of a kind run at a time in a process. */
export interface Slots {
  /**
   * Takes a slot until the response has ended or its connection is closed.
   * @throws Problem `overloaded` if none is free
   */
  hold(reply: FastifyReply): void
}

/** @param what runs, in the plural, as a refusal names it */
export function createSlots(max: number, what: string): Slots {
  let held = 0
  return {
    hold(reply) {
      if (held >= max) {
        throw new Problem('overloaded', `At most ${max} ${what} run at a time. Nothing was done; repeat the call.`)
      }
      held += 1
      reply.raw.once('close', () => {
        held -= 1
      })
    },
  }
}
