import type { StatementResult } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { texts } from './arrays.ts'
import { number, selectListOf, text } from './rows.ts'
import { ledgerStatement } from './statement.ts'

/** The most principals that the dictionary holds. An issuer of tokens can make any number of subjects, so their number is bounded. */
const MAX_PRINCIPALS = 100_000

const SUBJECT = { subject: texts((subject: string) => subject) }

/** Adds principals. It waits for another process that adds the same one, so a later statement sees it. */
export const addPrincipals = ledgerStatement(
  'add-principals',
  SUBJECT,
  ({ arrays }) => sql`insert into principal (subject) select unnest(${arrays}) on conflict do nothing`,
)

const COLUMNS = { id: number, subject: text }

const { list, at: AT } = selectListOf(COLUMNS, sql`p`)

/** The principals with these subjects, those that the dictionary has. */
export const loadPrincipals = ledgerStatement(
  'load-principals',
  SUBJECT,
  ({ arrays }) => sql`select ${list} from principal p where p.subject = any (${arrays})`,
)

export const loadLastPrincipal = ledgerStatement(
  'load-last-principal',
  {},
  () => sql`select coalesce(max(id), 0) from principal p`,
)

/** Whether the dictionary has room, by the result of `loadLastPrincipal`. */
export function hasRoomForPrincipals(result: StatementResult | undefined): boolean {
  return number.read(result?.rows[0]?.[0]) < MAX_PRINCIPALS
}

export function principalsIn(result: StatementResult | undefined): { id: number; subject: string }[] {
  return (result?.rows ?? []).map(cells => ({
    id: COLUMNS.id.read(cells[AT.id]),
    subject: COLUMNS.subject.read(cells[AT.subject]),
  }))
}
