/** Prints what is in a journal, without its lock: an agent may run on it. */
import { readJournal } from '../../../../client/src/node/journal.ts'
import { safeJson } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { FAILED } from '../failures.ts'
import { columns, tableOf } from '../tables.ts'
import { writtenViewOf } from './debts.ts'

type Row = ReturnType<typeof writtenViewOf>

/** @returns the exit code */
export async function listDebts(path: string, asJson: boolean, terminal: Terminal): Promise<number> {
  let rows: Row[]
  try {
    rows = (await readJournal(path)).map(writtenViewOf)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    terminal.complain(`sms-quota agent: ${error.message}`)
    return FAILED
  }
  if (asJson) for (const row of rows) await terminal.print(`${safeJson(JSON.stringify(row))}\n`)
  else if (rows.length === 0) terminal.complain('All messages of the journal are booked.')
  else
    await terminal.print(
      tableOf(rows, columns<Row>('at', 'user_id', 'user_ref', 'id', 'message_type', 'state'), terminal),
    )
  return 0
}
