/** Tries messages as workers do, and compares what they are answered with the provider's list. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../fuzz/random.ts'
import { type Message, nameOf } from './message.ts'
import type { SendOutcome } from './send-outcome.ts'
import type { Sender, World } from './senders.ts'

/** How often one message is tried. */
const TRIES = 4

/** `killed`: the process ended before it answered. */
export type Attempt = () => Promise<SendOutcome | 'killed'>

/** Tries a message as a worker does that is asked again and again; and once more after its process was killed. */
export async function sendWithTries(
  world: World,
  sender: Pick<Sender, 'name' | 'kind'>,
  message: Message,
  random: Random,
  attempt: Attempt,
): Promise<void> {
  const { record, provider } = world
  for (let n = 0; n < TRIES; n++) {
    const was = provider.has(message)
    record.countsOf(sender.kind).calls += 1
    const outcome = await attempt()
    if (outcome === 'killed') {
      n -= 1
      continue
    }
    if (note(world, sender, message, outcome, was) === 'done' && !random.percent(10)) return
    if (random.percent(20)) break
    await pause(random.integer(400))
  }
  record.count(`left after its tries${message.units > 1 ? ', of several units' : ''}`)
}

/** @param was whether the provider had the message before the call */
function note(
  { record, provider }: World,
  { name, kind }: Pick<Sender, 'name' | 'kind'>,
  message: Message,
  outcome: SendOutcome,
  was: boolean,
): 'done' | 'again' {
  const { sends, detail, isOutage } = outcome
  const check = (what: string, isTrue: boolean) => {
    record.count(what)
    if (!isTrue) record.untrue.push(`${name}: ${nameOf(message)}: ${what}, sends: ${sends}, taken before: ${was}`)
  }
  const isUnknown = provider.unknown.has(nameOf(message))
  const isKilled = record.killed.has(nameOf(message))
  const shared = record.shared.get(nameOf(message))
  if (shared !== undefined && (outcome.kind === 'unavailable' || outcome.kind === 'failed'))
    shared.mayBeGivenBack = true
  switch (outcome.kind) {
    case 'sent':
      // Whether that is twice, the provider says.
      check(detail === '' ? 'sent' : `sent ${detail}`, sends === 1 && (!was || isKilled || shared !== undefined))
      if (detail === 'as a debt') {
        record.addDebt(message)
        if (!isOutage) check('a debt without an outage', false)
      }
      return 'done'
    case 'before':
      // Of two that have it, the other one may not have been answered that it is committed, and gives it back.
      check('sent before', sends === 0 && (was || isUnknown || isKilled || shared?.isTogether === true))
      return 'done'
    case 'unknown':
      check(sends === 0 ? 'unknown, not sent now' : 'unknown', sends === 0 || isUnknown)
      record.countsOf(kind)['not known if sent'] += 1
      if (sends === 0 && !was) provider.doubt(message)
      // The lease has paid.
      if (sends === 1 && !outcome.isReserved && kind === 'lease') provider.assume(message, name)
      return 'done'
    case 'failed':
      check('send failed', sends === 1)
      return 'again'
    case 'denied':
      check('denied', sends === 0)
      return 'again'
    case 'unavailable':
      check(`unavailable, outage: ${isOutage}`, sends === 0)
      return 'again'
    case 'refused':
      check(`refused: ${detail}`, sends === 0)
      return 'again'
  }
}
