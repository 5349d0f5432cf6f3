import Type, { type Static } from 'typebox'
import type { AdminDenialsQuery } from '../../contract/denials.ts'
import type { DenialFilter } from '../../db/reservations/denials.ts'
import { MAX_INTEGER, RESERVATION_ID_PATTERN } from '../../domain/bounds.ts'
import { COUNTRY_PATTERN } from '../../domain/country.ts'
import type { DenialKey } from '../../domain/denial.ts'
import { DENIAL_REASONS, UNNAMED } from '../../domain/reservation.ts'
import { LATEST } from '../../domain/time.ts'
import { invalidRequest } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorsOf, invalidCursor, issuesWithCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'

const count = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })
const epochMs = Type.Integer({ minimum: 0, maximum: LATEST })

/** The filters of a list, and the last denial of a page: its time (`at`), user (`of`) and `number`. */
const Cursor = Type.Object(
  {
    at: epochMs,
    of: count,
    number: count,
    user_id: Type.Optional(count),
    id: Type.Optional(Type.String({ pattern: RESERVATION_ID_PATTERN })),
    reason: Type.Optional(Type.Enum([...DENIAL_REASONS])),
    country: Type.Optional(Type.String({ pattern: COUNTRY_PATTERN })),
    message_type: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })),
    sender: Type.Optional(Type.String({ maxLength: 255, format: 'text' })),
    without: Type.Optional(Type.Enum([...UNNAMED])),
    from: Type.Optional(epochMs),
    to: Type.Optional(epochMs),
  },
  { additionalProperties: false },
)
const cursors = cursorsOf(Cursor)

const FILTERS = ['user_id', 'id', 'reason', 'country', 'message_type', 'sender', 'without', 'from', 'to'] as const

/** The filters of a query or a cursor. Times are milliseconds since 1970. */
export type Filters = Pick<Static<typeof Cursor>, (typeof FILTERS)[number]>

/**
 * The filters of a query, and the denial after which its page begins.
 * @throws Problem `invalid_request` if the cursor is not the viewer's, or if a filter contradicts it
 */
export function pageRequestOf(
  query: AdminDenialsQuery,
  viewer: Viewer,
): { filters: Filters; after: DenialKey | undefined } {
  const asked = filtersOf(query)
  if (query.cursor === undefined) return { filters: asked, after: undefined }
  const { at, of, number, ...filters } = readCursor(query.cursor, asked, viewer)
  return { filters, after: { at, user_id: of, number } }
}

/** The cursor of the page after this denial. */
export function cursorAfter({ at, user_id: of, number }: DenialKey, filters: Filters): string {
  return cursors.write({ at, of, number, ...filters })
}

/** What the viewer's list selects. */
export function filterOf({ user_id, message_type, ...filters }: Filters, viewer: Viewer): DenialFilter {
  const userId = viewer.role === 'user' ? viewer.userId : user_id
  return {
    ...filters,
    ...(userId === undefined ? {} : { userId }),
    ...(message_type === undefined ? {} : { messageType: message_type }),
  }
}

function filtersOf({ from, to, page_size: _size, cursor: _cursor, ...filters }: AdminDenialsQuery): Filters {
  return {
    ...filters,
    ...(from === undefined ? {} : { from: timestampOf(from) }),
    ...(to === undefined ? {} : { to: timestampOf(to) }),
  }
}

/** A cursor fixes the filters, so parameters may only repeat them. */
function readCursor(text: string, asked: Filters, viewer: Viewer): Static<typeof Cursor> {
  const cursor = cursors.read(text)
  const isForAdmins = cursor.user_id !== undefined || cursor.sender !== undefined || cursor.without === 'sender'
  if (viewer.role === 'user' && (isForAdmins || cursor.of !== viewer.userId)) throw invalidCursor()
  const issues = issuesWithCursor(FILTERS, asked, cursor)
  if (issues.length > 0) throw invalidRequest(issues)
  return cursor
}
