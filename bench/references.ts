/**
 * What it costs a sender to name users by references that are remembered: microseconds of a call, parsed, checked and made a command,
 * by id and by reference in turn, the lowest of nine rounds. The references are UUIDs; each call parses its own.
 *
 *     bin/node bench/references.ts
 */
import { randomUUID } from 'node:crypto'
import type { SenderRequest } from '../src/contract/sender.ts'
import { DEFAULT_SEGMENT_RULES } from '../src/domain/messages/segment-rules.ts'
import { createUserReferences } from '../src/http/references/references.ts'
import { commandOf, requestCheck } from '../src/http/sender/requests.ts'

const ROUNDS = 9
const CALLS = 400_000
const RULES = { requireCountry: false, requireRecipient: false, segments: DEFAULT_SEGMENT_RULES }
const ORIGIN = { principal: 'gateway', requestId: 'r' }

const check = requestCheck('consume', () => DEFAULT_SEGMENT_RULES)

function run(bodies: readonly string[], references: ReturnType<typeof createUserReferences>): number {
  const begin = process.cpuUsage()
  let sum = 0
  for (let call = 0; call < CALLS; call++) {
    const request: SenderRequest = JSON.parse(bodies[(call * 7_919) % bodies.length] ?? '')
    if (check(request) !== null) throw new Error('the body is not valid')
    const userId = request.user_id ?? references.recall(request.user_ref ?? '')
    if (typeof userId !== 'number') throw new Error('the reference is not remembered')
    sum += commandOf('consume', userId, request, ORIGIN, RULES).command.user_id
  }
  if (sum < 0) throw new Error('no sum')
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / CALLS
}

const lowest = (values: readonly number[]) => Math.min(...values)

for (const users of [1_000, 10_000, 100_000]) {
  const ids = new Map(Array.from({ length: users }, (_, user) => [randomUUID() as string, user]))
  const references = createUserReferences({ read: async refs => new Map(refs.map(ref => [ref, ids.get(ref) ?? 0])) })
  const refs = [...ids.keys()]
  for (let from = 0; from < users; from += 1_000) await Promise.all(refs.slice(from, from + 1_000).map(references.find))
  const rest = { id: 'msg-1042', units: 1, country: 'DE', message_type: 'otp' }
  const byId = refs.map((_, user) => JSON.stringify({ user_id: user, ...rest }))
  const byRef = refs.map(user_ref => JSON.stringify({ user_ref, ...rest }))
  const rounds = Array.from({ length: ROUNDS }, () => [run(byId, references), run(byRef, references)] as const)
  // The lowest, because what else runs on the machine only adds.
  const [id, ref] = [lowest(rounds.map(([one]) => one)), lowest(rounds.map(([, other]) => other))]
  console.log(`${users} users: ${id.toFixed(2)} µs by id, ${ref.toFixed(2)} µs by reference`)
}
