/** Finds ids where a person gave what the API does not take in their place: references of users, names of plans and rate cards. */
import { setTimeout as pause } from 'node:timers/promises'
import type { OperationId } from '../../../client/src/api.ts'
import { QuotaError, UnavailableError } from '../../../client/src/main.ts'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { REFERENCE } from '../../domain/quotas/user-file.ts'
import { didYouMean, UsageError } from '../arguments.ts'
import { safe } from '../safe.ts'
import type { Connection } from './connection.ts'
import { CallFailed, FAILED } from './failures.ts'
import type { Field, Named, Request } from './fields.ts'

type Call = Connection['call']
/** Shows a line in place of the one before; undefined without a terminal. */
type Progress = ((text: string) => void) | undefined

/** The request with ids only. @throws CallFailed if there is no such user, plan or rate card */
export async function withIds(
  request: Request,
  fields: readonly Field[],
  call: Call,
  progress?: Progress,
): Promise<Request> {
  const found = { ...request }
  const given = (alternative: Field['alternative']) =>
    fields.flatMap(field => {
      const [name = ''] = field.path
      return field.alternative === alternative && name in request ? [{ name, value: request[name] }] : []
    })
  for (const what of ['plan', 'rate_card'] as const)
    for (const { name, value } of given(what))
      if (typeof value === 'string') found[name] = await findNamed(what, value, call)
  const named = given('reference')
  const refs = named.flatMap(({ value }) => [value].flat().flatMap(one => referenceIn(one) ?? []))
  const users = await findUsers(refs, call, progress)
  const unknown = new Set(refs.filter(ref => !users.has(ref)))
  if (unknown.size > 0) throw new CallFailed({ message: unknownUsers([...unknown]), exitCode: FAILED })
  const idOf = (value: unknown) => users.get(referenceIn(value) ?? '') ?? value
  for (const { name, value } of named) found[name] = Array.isArray(value) ? [...new Set(value.map(idOf))] : idOf(value)
  return found
}

const referenceIn = (value: unknown) =>
  typeof value === 'string' && value.startsWith(REFERENCE) ? value.slice(REFERENCE.length) : undefined

/** The service's own refusal would name one of them. */
const unknownUsers = (refs: readonly string[]) =>
  refs.length === 1
    ? `no user has the reference ${safe(refs.join())}`
    : `no user has one of these references:\n${refs.map(ref => `  ${safe(ref)}`).join('\n')}`

/** Calls at a time. To find 10,000 users takes about a minute, as a service allows a token 6,000 calls in one by default. */
const MAX_PARALLEL = 8

/** The users of references, by these; those that name no user are left out. */
export async function findUsers(
  refs: Iterable<string>,
  call: Call,
  progress: Progress,
): Promise<ReadonlyMap<string, number>> {
  const users = new Map<string, number>()
  const rest = eachOf(new Set(refs))
  async function findRest(): Promise<void> {
    // An error closes the generator, so the others end, too.
    for (const ref of rest) {
      const user = await findUser(ref, call)
      if (user === undefined) continue
      users.set(ref, user)
      progress?.(`${users.size} users found`)
    }
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, findRest))
  if (users.size > 0) progress?.('')
  return users
}

function* eachOf(refs: Iterable<string>): Generator<string, void> {
  yield* refs
}

/** Tries of a look-up above the limit of calls, and the pause between: then other callers of the same token use the limit up. */
const MAX_TRIES = 60
const PAUSE_MS = 1_000

async function findUser(ref: string, call: Call): Promise<number | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      const profile = (await call('getProfile', { user_ref: ref })) as { user_id: number }
      return profile.user_id
    } catch (error) {
      if (error instanceof QuotaError && error.code === 'unknown_user') return undefined
      if (!isRateLimited(error) || tries === MAX_TRIES) throw error
      await pause(PAUSE_MS)
    }
  }
}

/** The client gives up after some retries, as for a service in trouble. This one only asks to call more slowly. */
const isRateLimited = (error: unknown) =>
  error instanceof UnavailableError && error.cause instanceof QuotaError && error.cause.code === 'rate_limited'

/* ── Names ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The lists of what has a name, of those that are not archived. They have 1,000 at most. */
const LISTS = { plan: 'listPlans', rate_card: 'listRateCards' } as const satisfies Record<Named, OperationId>

interface Listed {
  id: number
  name: string
}

const inWords = (what: Named) => what.replace('_', ' ')

/** @throws CallFailed if there is none of the name, UsageError if there are several */
async function findNamed(what: Named, name: string, call: Call): Promise<number> {
  const all = await readAll(what, call)
  const found = oneNamed(what, name, all, () => 'Give the id of one')
  if (found !== undefined) return found.id
  const meant = didYouMean(
    name,
    all.map(other => other.name),
  )
  throw new CallFailed({ message: safe(`no ${inWords(what)} has the name ${name}${meant}`), exitCode: FAILED })
}

/** Newest first. */
export async function readAll<Item extends Listed>(what: Named, call: Call): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  do {
    const position = cursor === null ? {} : { cursor }
    const page = (await call(LISTS[what], { ...position, page_size: MAX_PAGE_SIZE })) as Page<Item>
    all.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

interface Page<Item> {
  items: readonly Item[]
  next_cursor: string | null
}

/**
 * @param advice how to choose among several, of which one has this id
 * @throws UsageError if several have the name
 */
export function oneNamed<Item extends Listed>(
  what: Named,
  name: string,
  all: readonly Item[],
  advice: (id: number) => string,
): Item | undefined {
  const named = all.filter(one => one.name === name)
  const [found, other] = named
  if (other === undefined) return found
  const ids = named.map(({ id }) => id).join(', ')
  throw new UsageError(`${named.length} ${inWords(what)}s have the name ${name}: ${ids}. ${advice(other.id)}`)
}
