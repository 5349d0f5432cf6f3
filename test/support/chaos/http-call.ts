/** Whether each service notices at once what the other has changed, when nothing else is called. */
import type { Deployment } from './deployment.ts'
import { HOT_USER } from './messages.ts'

const SENDER = '/api/sms/sender/quota'
/** Calls after which a service decides from memory, in any earlier state. */
const WARMING_CALLS = 60
/** A window may end during an httpCall, which then proves nothing: an hour takes three seconds there. */
const ATTEMPTS = 20

/** What services answered that knew too little, after several attempts. */
export async function staleAnswers(deployment: Deployment): Promise<string[]> {
  const users = [HOT_USER, 1, 2, 3, 4, 39]
  const found = await Promise.all(users.map((user, index) => exchangeUntilRight(deployment, user, index % 2)))
  return found.flat()
}

async function exchangeUntilRight(deployment: Deployment, user: number, taker: number): Promise<string[]> {
  let wrong: string[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    wrong = await httpCall(deployment, user, taker, `httpCall-${attempt}`)
    if (wrong.length === 0) break
  }
  return wrong
}

/** One service takes and returns all that a user has left, and the other is asked after each step. */
async function httpCall({ call }: Deployment, user: number, taker: number, id: string): Promise<string[]> {
  const other = 1 - taker
  const post = async (service: number, op: string, body: object) =>
    (await call(service, 'POST', `${SENDER}/${op}`, { user_id: user, ...body }))?.body
  const summary = await call(taker, 'GET', `/api/sms/admin/quota/summary?user_id=${user}`)
  const available: number = summary?.body.available
  const wrong: string[] = []
  const expectGranted = (what: string, { granted }: { granted?: boolean }, expected: boolean) => {
    if (granted !== expected) wrong.push(`user ${user}, ${available} available: ${what} is granted: ${granted}`)
  }

  for (let n = 0; n < WARMING_CALLS; n++) await post(other, 'check', { units: 1 })
  const { remaining } = await post(other, 'check', { units: 1 })
  if (remaining !== available) wrong.push(`user ${user}, ${available} available: a check finds ${remaining}`)
  if (available === 0) return wrong
  expectGranted('all', await post(taker, 'reserve', { id, units: available }), true)
  expectGranted('a check after all was reserved', await post(other, 'check', { units: 1 }), false)
  expectGranted('a unit after all was reserved', await post(other, 'reserve', { id: `${id}-denied`, units: 1 }), false)
  await post(taker, 'release', { id })
  expectGranted('a check after all was released', await post(other, 'check', { units: 1 }), true)
  expectGranted('a unit after all was released', await post(other, 'reserve', { id: `${id}-granted`, units: 1 }), true)
  // Also what was granted by mistake, or because a window ended: its expiry would return units during a later attempt.
  for (const left of ['granted', 'denied']) await post(other, 'release', { id: `${id}-${left}` })
  return wrong
}
