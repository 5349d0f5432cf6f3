/** The feed of events, up to now or as they happen. */
import { toSnake } from '../../../client/src/names.ts'
import type { Event, EventPage } from '../../contract/events.ts'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { EVENT_TYPES } from '../../domain/events/event.ts'
import { didYouMean, type Option, UsageError } from '../arguments.ts'
import { isClosedPipe } from '../terminal.ts'
import type { Request } from './fields.ts'
import { ROW_OPTIONS, readRows, showRows } from './lists.ts'
import type { Call, Presentation } from './presentation.ts'
import { type Column, columns } from './tables.ts'

const DEFAULT_LAST = 20

/** Pages come one after the other, so the widths cannot depend on their rows. */
const COLUMNS: readonly Column<Event>[] = columns<Event>(
  { title: 'at', value: event => event.at, minWidth: 19 },
  { title: 'type', value: event => event.type, minWidth: 23 },
  { title: 'user_id', value: event => event.user_id, minWidth: 8 },
  { title: 'what', value: whatOf },
)

function whatOf({ data }: Event): string {
  if ('percent' in data) return `quota ${data.quota.id}: ${data.percent} % used`
  if ('transfer' in data)
    return `quota ${data.quota.id}: ${data.units} units ${data.direction} by transfer ${data.transfer.id}`
  if ('quota' in data) return `quota ${data.quota.id}${data.quota.name === null ? '' : `: ${data.quota.name}`}`
  if ('reservation' in data) {
    return `reservation ${data.reservation.id}: ${data.released} released, ${data.committed} committed`
  }
  if ('webhook' in data) return `webhook ${data.webhook.id}: ${data.webhook.disabled_reason}`
  if ('request' in data) return `request ${data.request.id} for ${data.request.units} units: ${data.request.status}`
  if ('pause' in data) return `pause ${data.pause.id} of ${data.pause.country}`
  if ('erasure' in data) return `user ${data.erasure.user_id}`
  // Later versions of the service have further types.
  data satisfies never
  return ''
}

export const EVENT_OPTIONS: Readonly<Record<string, Partial<Option>>> = {
  types: { value: 'TYPES', values: EVENT_TYPES, means: `only these, separated by commas: ${EVENT_TYPES.join(', ')}` },
  after: { value: 'CURSOR', dashed: true, means: 'go on where events ended; "latest" shows only new ones' },
  last: {
    means: `begin with this many of the last events of all types and users, 1 to ${MAX_PAGE_SIZE}; default ${DEFAULT_LAST}`,
  },
  limit: { means: `how many events to show; default ${MAX_PAGE_SIZE}` },
  all: { means: 'show all events, from the oldest that is kept, or from --after or --last' },
}

export const events: Presentation = {
  options: { ...ROW_OPTIONS, follow: { means: 'go on with new events as they happen, until Ctrl-C' } },
  hides: ['limit', 'wait_seconds'],
  async run(call) {
    const { args, request } = call
    checkTypes(request.types)
    if (args.has('after') && args.has('last')) throw new UsageError('give --after or --last, not both')
    const isFollowing = args.has('follow')
    if (isFollowing && (args.has('limit') || args.has('all'))) {
      throw new UsageError('--follow has no end: give no --limit and no --all')
    }
    const limit = readRows(args, MAX_PAGE_SIZE)
    return isFollowing ? await showFollowed(call) : await show(call, pagesUpToNow(call, limit))
  },
}

/** The service's own message would be a pattern. @throws UsageError */
function checkTypes(types: unknown): void {
  if (typeof types !== 'string') return
  for (const type of types.split(',')) {
    if (EVENT_TYPES.some(known => known === type)) continue
    throw new UsageError(
      `--types is a list of ${EVENT_TYPES.join(', ')}, not "${type}"${didYouMean(type, EVENT_TYPES)}`,
    )
  }
}

/** Pages of the events up to now. */
async function* pagesUpToNow({ args, request, ask }: Call, limit: number, signal?: AbortSignal) {
  const isAnywhere = args.has('after') || args.has('last') || args.has('all')
  let position: Request = isAnywhere ? {} : { last: DEFAULT_LAST }
  let left = limit
  let { after } = request
  while (left > 0) {
    const page = (await ask({ ...position, limit: Math.min(left, MAX_PAGE_SIZE) }, signal)) as EventPage
    yield page
    // With a filter, an empty page may lead on. At the end, the cursor stays.
    if (page.next === after) return
    after = page.next
    position = { after, last: undefined }
    left -= page.items.length
  }
}

/** Pages without an end. */
async function* pagesAsTheyCome(call: Call, signal: AbortSignal) {
  let after: string | undefined
  for await (const page of pagesUpToNow(call, MAX_PAGE_SIZE, signal)) {
    after = page.next
    yield page
  }
  if (after === undefined) return
  const { types, user_id: userId, user_ref: userRef } = call.request
  const filter = {
    ...(typeof types === 'string' ? { types } : {}),
    ...(typeof userId === 'number' ? { userId } : {}),
    ...(typeof userRef === 'string' ? { userRef } : {}),
  }
  for await (const page of call.client.follow({ after, ...filter }, { signal })) yield toSnake(page) as EventPage
}

/** Shows pages of events, and how to go on behind them, also if the service goes away. */
async function show(call: Call, pages: AsyncIterable<EventPage>): Promise<number> {
  const { args, terminal } = call
  let rows = 0
  let next: string | undefined
  const hint = () => next !== undefined && terminal.complain(`to go on: --after=${next}`)
  try {
    for await (const page of pages) {
      await showRows(call, page.items, COLUMNS, rows === 0)
      rows += page.items.length
      next = page.next
    }
  } catch (error) {
    if (!isClosedPipe(error)) hint()
    throw error
  }
  if (rows === 0 && !args.has('json')) terminal.complain('There are no events.')
  hint()
  return 0
}

async function showFollowed(call: Call): Promise<number> {
  const signal = call.terminal.interruption()
  try {
    return await show(call, pagesAsTheyCome(call, signal))
  } catch (error) {
    if (!signal.aborted) throw error
    return 0
  }
}
