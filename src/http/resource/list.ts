/** Lists that are read by cursor. What a resource defines of its list is what is special; routes and exports are made of that. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { closed } from '../../contract/schemas.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page, Slice } from '../../db/lists/pages.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { invalidRequest } from '../../errors.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { cursorsFor, cursorTime, invalidCursor, issuesWithCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import type { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'

interface ListQuery {
  readonly from?: string
  readonly to?: string
  readonly page_size?: number
  readonly cursor?: string
}

/** The filters of a query. Times are milliseconds since 1970. */
export type FiltersOf<Query> = {
  [Name in keyof Query as Exclude<Name, 'page_size' | 'cursor'>]: Name extends 'from' | 'to' ? EpochMs : Query[Name]
}

interface Definition<Query extends TObject, Key extends TSchema, Filters, Row, Read> {
  /** `cursorQuery` and the filters. */
  query: Query
  /** A place in the list, as a cursor holds it. */
  key: Key
  read: (db: Database, filters: Filters, page: Page<Static<Key>>) => Promise<Read & Slice<Row, Static<Key>>>
  view(row: Row, now: EpochMs): object
  /** What a page says beside its items. */
  more?(read: Read & Slice<Row, Static<Key>>, now: EpochMs): object
}

/** A filter of the query that `read` does not have is a type error. */
type HasFilters<Query, Filters> = [Query] extends [Filters]
  ? [Exclude<keyof Query, keyof Filters>] extends [never]
    ? unknown
    : never
  : never

interface ListPage {
  items: object[]
  page_size: number
  next_cursor: string | null
}

export interface List {
  query: TObject
  /**
   * A page as of `now`, of all users or of one.
   * @throws Problem `invalid_request` if the cursor is not of this list, or a filter contradicts it
   */
  page(db: Database, query: ListQuery, now: EpochMs, userId?: number): Promise<ListPage>
}

/** Makes a list. Its cursors hold the filters and the place of the last row. */
export function listOf<Query extends TObject, Key extends TSchema, Filters extends object, Row, Read>({
  query,
  key,
  read,
  view,
  more = () => ({}),
}: Definition<Query, Key, Filters, Row, Read> & HasFilters<FiltersOf<Static<Query>>, Filters>): List {
  const { page_size: _size, cursor: _cursor, from, to, ...others } = query.properties
  const range = { ...(from === undefined ? {} : { from: TIME }), ...(to === undefined ? {} : { to: TIME }) }
  const schema = Type.Object({ ...others, ...range }, closed)
  const names = Object.keys(schema.properties)
  const cursors = cursorsFor<{ filters: Filters; after: Static<Key> }>(
    Type.Object({ filters: schema, after: key }, closed),
  )
  const validator = Compile(schema)
  // The compiler does not know what is in a query of any list.
  const areFilters = (value: unknown): value is Filters => validator.Check(value)

  function placeOf({ page_size: _, cursor, from, to, ...rest }: ListQuery) {
    const asked = {
      ...rest,
      ...(from === undefined ? {} : { from: timestampOf(from) }),
      ...(to === undefined ? {} : { to: timestampOf(to) }),
    }
    if (cursor === undefined) {
      const filters = Value.Default(schema, asked)
      if (!areFilters(filters)) throw new Error('the query was not validated')
      return { filters, after: undefined }
    }
    const place = cursors.read(cursor)
    const issues = issuesWithCursor(names, asked, place.filters)
    if (issues.length > 0) throw invalidRequest(issues)
    return place
  }

  return {
    query,
    async page(db, asked, now, userId) {
      const { filters, after } = placeOf(asked)
      const size = asked.page_size ?? DEFAULT_PAGE_SIZE
      if (userId !== undefined && isOfAnother(after, userId)) throw invalidCursor()
      const selected = userId === undefined ? filters : { ...filters, user_id: userId }
      const slice = await read(db, selected, { after, size, now })
      return {
        items: slice.items.map(row => view(row, now)),
        page_size: size,
        next_cursor: slice.next === null ? null : cursors.write({ filters, after: slice.next }),
        ...more(slice, now),
      }
    },
  }
}

const TIME = Type.Optional(cursorTime)

/** How far back a short page of a list by time has read. */
export const scannedUntil = ({ next }: { next: { at: EpochMs } | null }) => ({
  scanned_until: next && formatTimestamp(next.at),
})

/** Whether a place is that of a row of another user. */
const isOfAnother = (after: unknown, userId: number) =>
  typeof after === 'object' && after !== null && 'user_id' in after && after.user_id !== userId

/** The route of a list: of all users or, with `isOwn`, of the user who asks. */
export function getList(
  server: FastifyInstance,
  url: string,
  { db, now }: RouteContext,
  list: List,
  { isOwn = false, ...route }: ReturnType<typeof operation> & { answer: string; isReport?: true; isOwn?: boolean },
): void {
  get(server, url, {
    ...route,
    query: list.query,
    handler: request => list.page(db, request.query, now(), isOwn ? userIdOf(request) : undefined),
  })
}
