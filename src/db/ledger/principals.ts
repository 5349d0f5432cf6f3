import type { StatementResult } from '../pipelined-connection.ts'
import { anyTexts } from './arrays.ts'
import { number, selectionOf, text } from './rows.ts'
import { ledgerStatement } from './statement.ts'

/** The most principals that the dictionary holds. Whoever can make tokens can make subjects, so their number is bounded. */
const MAX_PRINCIPALS = 100_000

const SUBJECT = { subject: anyTexts((subject: string) => subject) }

/**
 * Adds principals that the dictionary lacks, while it has room. It waits for another process that adds the same one, so a
 * later statement sees it.
 */
export const addPrincipals = ledgerStatement(
  'add-principals',
  SUBJECT,
  ({ k }) => `insert into principal (subject)
    select k.subject from ${k}
    where not exists (select from principal p where p.subject = k.subject)
      and (select coalesce(max(id), 0) from principal) < ${MAX_PRINCIPALS}
    on conflict do nothing`,
)

const COLUMNS = { id: number, subject: text }

const { list, at: AT } = selectionOf(COLUMNS, 'p')

/** The principals with these subjects, those that the dictionary has. */
export const loadPrincipals = ledgerStatement(
  'load-principals',
  SUBJECT,
  ({ k }) => `select ${list} from ${k} join principal p on p.subject = k.subject`,
)

export function principalsIn(result: StatementResult | undefined): { id: number; subject: string }[] {
  return (result?.rows ?? []).map(cells => ({
    id: COLUMNS.id.read(cells[AT.id]),
    subject: COLUMNS.subject.read(cells[AT.subject]),
  }))
}
