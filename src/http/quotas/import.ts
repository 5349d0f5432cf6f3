import type { Author } from '../../admin/kit/author.ts'
import { createImportedKeys, type ImportedRow, type ImportOutcome, isRefusal } from '../../admin/many/import-quotas.ts'
import type { NewUsers } from '../../admin/many/import-users.ts'
import { type ImportRecord, ImportRow, ImportRowByReference, ImportRowOfPlan } from '../../contract/import.ts'
import { isReference } from '../../contract/patterns.ts'
import { MAX_LISTED_FAILURES } from '../../domain/basics/bounds.ts'
import { givesPlan } from '../../domain/quotas/quota-file.ts'
import { invalidRequest, type Problem, type ValidationIssue } from '../../errors.ts'
import { createProgressClock, stoppedBy } from '../changes/many.ts'
import { refusal } from '../changes/outcomes.ts'
import type { StepPacer } from '../changes/step-pacer.ts'
import { readJson } from '../platform/json-text.ts'
import { linesOf } from '../platform/ndjson.ts'
import { giveWay } from '../platform/turns.ts'
import { type Check, compileCheck, firstIssues, type Issues } from '../platform/validation.ts'
import { refusalOfNew, unknownUser } from '../references/references.ts'
import { importedQuotaOf } from './requests.ts'

/** The maximum size of a step's lines, in bytes: with the rows, what an import holds in memory. */
const MAX_STEP_BYTES = 256 * 1024

/**
 * Reading rows gives way to other calls, and to other long work, after this time and one more row: 64 KiB that arrive at once hold twenty
 * thousand rows, and to say what is wrong with each takes two seconds.
 */
const MAX_TICK_MS = 5

export interface ImportOptions {
  /** Imports rows in one transaction, or in a dry run decides what would become of them. */
  step(rows: readonly ImportedRow[], author: Author): Promise<ImportOutcome[]>
  /** Who imports, as of now: each step has a time of its own. */
  author: () => Author
  /** Finds the users of references; those that name none are left out. */
  usersOf(refs: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Makes users for references that are new; null: their rows are refused. */
  newUsers: NewUsers | null
  pacer: StepPacer
  /** Called with an error that stops the import. */
  onStopped(error: unknown): void
}

interface Row {
  line: number
  imported: ImportedRow
}

const readRow = createRowReader()

/**
 * Imports the quotas of a body, step by step, and yields the records of the response. It reads on only after a step has
 * committed, so the client is slowed down to what the database takes. If the body breaks off, the steps so far stay.
 *
 * @throws what stops the first step: no record has been yielded
 */
export async function* importOf(
  body: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): AsyncGenerator<ImportRecord, void> {
  const run = new Import(options)
  let pauseAt = performance.now() + MAX_TICK_MS
  for await (const lines of linesOf(body, MAX_LINE_BYTES)) {
    const users = new Map(await options.usersOf(lines.flatMap(({ text }) => referenceIn(text) ?? [])))
    for (const { number, text } of lines) {
      if (performance.now() > pauseAt) {
        await giveWay()
        pauseAt = performance.now() + MAX_TICK_MS
      }
      if (text?.trim() === '') continue
      const read = readRow(text)
      if ('issues' in read) {
        yield* run.refuse(number, invalidRequest(read.issues))
        continue
      }
      let userId: number | Problem
      try {
        userId = await identify(read.row, users, options)
      } catch (error) {
        yield* run.stop(error)
        return
      }
      if (typeof userId !== 'number') {
        yield* run.refuse(number, userId)
        continue
      }
      const imported = importedRowOf(read.row, userId)
      if (run.isFull(imported)) {
        yield* run.step()
        if (run.isStopped) return
      }
      run.add({ line: number, imported }, text?.length ?? 0)
    }
  }
  yield* run.step()
  if (!run.isStopped) yield { record: 'end', ...run.counts }
}

/** The reference on a line that has one. */
function referenceIn(text: string | null): string | undefined {
  if (text?.includes('"user_ref"') !== true) return undefined
  const read = readJson(text)
  if (!('value' in read) || typeof read.value !== 'object' || read.value === null) return undefined
  const ref = 'user_ref' in read.value ? read.value.user_ref : undefined
  return typeof ref === 'string' && isReference(ref) ? ref : undefined
}

function importedRowOf(row: ImportRow, userId: number): ImportedRow {
  return givesPlan(row) ? { user_id: userId, plan: row.plan } : importedQuotaOf(row, userId)
}

/** The user of a row, who is made if need be, or why it has none. */
async function identify(
  row: ImportRow,
  users: Map<string, number>,
  { newUsers, author }: ImportOptions,
): Promise<number | Problem> {
  const { user_id, user_ref } = row
  // A row that names an id, too, is about a user who is there.
  const isNew = user_ref != null && user_id === undefined && !users.has(user_ref)
  if (newUsers === null || !isNew) return userOf(row, users, newUsers !== null)
  const refused = refusalOfNew(user_ref)
  if (refused !== undefined) return refused
  const made = await newUsers(user_ref, userId => importedRowOf(row, userId), author())
  if (made === undefined) return unknownUser(user_ref, null, true)
  if (typeof made !== 'number') return refusal(made)
  users.set(user_ref, made)
  return made
}

/** The user of a row, or why it has none. */
function userOf(
  { user_id, user_ref }: ImportRow,
  users: ReadonlyMap<string, number>,
  makesUsers: boolean,
): number | Problem {
  const named = user_ref == null ? user_id : users.get(user_ref)
  if (named === undefined && user_id !== undefined)
    return invalidRequest([
      { path: '/user_ref', message: 'is the reference of no user; leave it out, or give it to the user first' },
    ])
  if (named === undefined) return unknownUser(user_ref ?? '', undefined, makesUsers)
  if (user_id === undefined || user_id === named) return named
  return invalidRequest([{ path: '/user_ref', message: 'is the reference of another user than user_id' }])
}

class Import {
  isStopped = false
  readonly counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  private readonly options: ImportOptions
  private rows: Row[] = []
  private keys = createImportedKeys()
  private bytes = 0
  /** All rows up to this line have taken effect. */
  private doneUpTo = 0
  private isBegun = false
  private readonly isDue = createProgressClock()

  constructor(options: ImportOptions) {
    this.options = options
  }

  /** Whether the step has to run before this row: a step has no two rows for the same quota. */
  isFull(row: ImportedRow): boolean {
    const isLarge = this.rows.length >= this.options.pacer.rows || this.bytes >= MAX_STEP_BYTES
    return isLarge || this.keys.conflictWith(row)
  }

  add(row: Row, bytes: number): void {
    this.rows.push(row)
    this.keys.add(row.imported)
    this.bytes += bytes
  }

  *refuse(line: number, { code, message, members }: Problem): Generator<ImportRecord, void> {
    this.counts.failed += 1
    this.isBegun = true
    if (this.counts.failed > MAX_LISTED_FAILURES) return
    const errors = members.errors as ValidationIssue[] | undefined
    yield { record: 'failed', line, code, detail: message, ...(errors === undefined ? {} : { errors }) }
  }

  /** Carries out the rows that were added, and reports them. */
  async *step(): AsyncGenerator<ImportRecord, void> {
    const { rows } = this
    const last = rows.at(-1)
    if (last === undefined) return
    this.rows = []
    this.keys = createImportedKeys()
    this.bytes = 0
    let outcomes: ImportOutcome[]
    try {
      const { step, author, pacer } = this.options
      const imported = rows.map(row => row.imported)
      outcomes = await pacer.run(imported, part => step(part, author()))
    } catch (error) {
      yield* this.stop(error)
      return
    }
    this.isBegun = true
    for (const [index, { line }] of rows.entries()) {
      const decided = outcomes[index]
      if (decided === undefined) throw new Error(`line ${line} has no outcome`)
      if (isRefusal(decided)) yield* this.refuse(line, refusal(decided))
      else this.counts[decided.outcome] += 1
    }
    this.doneUpTo = last.line
    if (this.isDue()) yield { record: 'progress', line: last.line, ...this.counts }
  }

  /** @throws the error, if no record has been yielded and no step done */
  *stop(error: unknown): Generator<ImportRecord, void> {
    if (!this.isBegun) throw error
    this.isStopped = true
    this.options.onStopped(error)
    yield { record: 'stopped', line: this.doneUpTo, ...this.counts, ...stoppedBy(error, MAX_LINE_BYTES) }
  }
}

/** The maximum length of a line: what the body of a creation may have. */
const MAX_LINE_BYTES = 64 * 1024

type ReadRow = { row: ImportRow } | { issues: Issues }

/** A function that reads the text of a line; null stands for one that is too long or not UTF-8. */
export function createRowReader(): (text: string | null) => ReadRow {
  const check = createRowCheck()
  return text => {
    if (text === null) return notReadable(`must be a line of UTF-8 of at most ${MAX_LINE_BYTES} bytes`)
    const read = readJson(text)
    if ('issues' in read) return read
    const issues = check(read.value)
    return issues === null ? { row: read.value as ImportRow } : { issues: firstIssues(issues) }
  }
}

/** A check of rows: what one needs depends on whether it gives a plan, or names an id. */
export function createRowCheck(): Check {
  const byId = compileCheck(ImportRow)
  const byReference = compileCheck(ImportRowByReference)
  const ofPlan = compileCheck(ImportRowOfPlan)
  return row => {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return byReference(row)
    const quota = 'id' in row ? byId : byReference
    const issues = givesPlan(row) ? ofPlan(row) : quota(row)
    if ('user_id' in row || ('user_ref' in row && row.user_ref !== null)) return issues
    return [{ path: '/user_id', message: 'is required, unless user_ref names the user' }, ...(issues ?? [])]
  }
}

const notReadable = (message: string): ReadRow => ({ issues: [{ path: '', message }] })
