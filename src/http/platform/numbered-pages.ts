/** Pages of what is numbered within one quota, webhook or plan, such as its changes: newest first. */
import Type from 'typebox'
import type { HistoryQuery } from '../../contract/quota-history.ts'
import type { Slice } from '../../db/connection/slice.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { invalidRequest } from '../../errors.ts'
import { cursorsOf } from './cursors.ts'

const RESOURCES = ['quota', 'webhook', 'plan'] as const
type Resource = (typeof RESOURCES)[number]

/** The quota, webhook or plan, and the number before which the next page begins. */
const cursors = cursorsOf(
  Type.Object(
    {
      resource: Type.Enum([...RESOURCES]),
      id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
      before: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
    },
    { additionalProperties: false },
  ),
)

/** Where a page begins. @throws Problem `invalid_request` if the cursor belongs to another one */
export function startOf(resource: Resource, id: number, query: HistoryQuery): { before: number; size: number } {
  const { page_size: size = DEFAULT_PAGE_SIZE, cursor } = query
  if (cursor === undefined) return { before: MAX_INTEGER, size }
  const read = cursors.read(cursor)
  if (read.resource !== resource || read.id !== id) {
    throw invalidRequest([{ path: 'cursor', message: `belongs to ${read.resource} ${read.id}` }])
  }
  return { before: read.before, size }
}

/** The cursor of the page after this one; null: it is the last. */
export function cursorAfter<Item>(
  resource: Resource,
  id: number,
  { items, hasMore }: Slice<Item>,
  numberOf: (item: Item) => number,
): string | null {
  const last = hasMore ? items.at(-1) : undefined
  return last === undefined ? null : cursors.write({ resource, id, before: numberOf(last) })
}
