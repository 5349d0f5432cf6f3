/** The places that a backup may write to: the service's own tables with all their columns, and its sequences, each once. */
import type pg from 'pg'
import { sequenceNames, tablesInOrder } from './catalog.ts'
import { BackupDamaged, type TableBegin } from './records.ts'

export interface OwnPlaces {
  /** @throws BackupDamaged if it is no table of the service, or one that was filled already, or has other columns */
  fill(table: TableBegin): void
  /** @throws BackupDamaged if it is no sequence of the service, or one that was set already */
  set(sequence: string): void
  /** @throws BackupDamaged if a table was not filled, or a sequence not set */
  assertComplete(): void
}

/** The places of the schema that the migrations made; all tables of these names are meant. */
export async function ownPlaces(client: pg.Client, tables: readonly string[]): Promise<OwnPlaces> {
  const own = (await tablesInOrder(client)).filter(({ table }) => tables.includes(table))
  const unfilled = new Map(own.map(({ table, columns }) => [table, columns]))
  const unset = new Set(await sequenceNames(client))
  return {
    fill({ table, columns }) {
      const expected = unfilled.get(table)
      if (expected === undefined)
        throw refusal(`fills the table ${shown(table)}, which is not of the service or full already`)
      const [given, needed] = [columns.toSorted(), expected.toSorted()]
      if (given.length !== needed.length || given.some((name, index) => name !== needed[index]))
        throw refusal(
          `fills the columns ${given.join(', ')} of the table ${shown(table)}, which has ${needed.join(', ')}`,
        )
      unfilled.delete(table)
    },
    set(sequence) {
      if (!unset.delete(sequence))
        throw refusal(`sets the sequence ${shown(sequence)}, which is not of the service or set already`)
    },
    assertComplete() {
      const [table] = unfilled.keys()
      if (table !== undefined) throw refusal(`lacks the table ${table}`)
      const [sequence] = unset
      if (sequence !== undefined) throw refusal(`lacks the sequence ${sequence}`)
    },
  }
}

/** A name from the backup: it may hold characters that a terminal obeys. */
const shown = (name: string) => JSON.stringify(name)

const refusal = (what: string) =>
  new BackupDamaged(`the backup ${what}: it is damaged, or no backup that the service made`)
