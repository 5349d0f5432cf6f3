import { kindOfFault, ruleOf } from '../../../src/domain/basics/row-faults.ts'
import type { Api } from '../api/types.ts'
import type { BulkCall } from '../model/bulk-change.ts'
import { type Failure, NOTHING_DONE, type Progress, sumOf } from '../model/job.ts'
import { texts } from '../texts/texts.ts'
import { type Job, reasonOf, recordsOf } from './many.ts'

/** Changes of many quotas, and imports. */

type Quota = Api['SmsQuota']
type BulkRecord = Api['BulkRecord']
type ImportRecord = Api['ImportRecord']

/** A quota that would change, as it is and as it would be. */
export interface Sample {
  before: Quota
  after: Quota
}

/** What a dry run found. */
interface BulkPreview {
  changed: number
  unchanged: number
  failed: number
  failures: readonly Failure[]
  /** The first ones that would change. */
  samples: readonly Sample[]
}

function bulkRecords({ select, change, key }: BulkCall, isDryRun: boolean, signal: AbortSignal) {
  return recordsOf('POST /admin/quota/bulk', {
    query: { dry_run: `${isDryRun}` },
    body: { select, change },
    idempotencyKey: key,
    signal,
  })
}

/** Asks what a bulk change would do. @throws ApiProblem, Unreachable, Stopped */
export async function previewBulk(call: BulkCall, signal: AbortSignal): Promise<BulkPreview> {
  const failures: Failure[] = []
  const samples: Sample[] = []
  let counts = { changed: 0, unchanged: 0, failed: 0 }
  for await (const record of bulkRecords(call, true, signal)) {
    if (record.record === 'failed') failures.push(bulkFailure(record, call))
    if (record.record === 'sample') samples.push(record)
    if (record.record === 'end') counts = record
  }
  return { ...counts, failures, samples }
}

/** The job that makes a bulk change. */
export function bulkJob(call: BulkCall): Job {
  return async ({ report, signal }) => {
    const failures: Failure[] = []
    for await (const record of bulkRecords(call, false, signal)) {
      if (record.record === 'failed') failures.push(bulkFailure(record, call))
      if (!('changed' in record)) continue
      const { changed_before, unchanged, failed } = record
      // What an earlier attempt has changed is the work of this job, too.
      const changed = record.changed + changed_before
      report({ done: changed + unchanged + failed, counts: { changed, unchanged }, failed, failures })
    }
  }
}

function bulkFailure(record: Extract<BulkRecord, { record: 'failed' }>, { change }: BulkCall): Failure {
  const { quota_id, user_id, code } = record
  const unfit: Partial<Record<string, string>> = texts.manyQuotas.bulk.unfit
  // The input itself is checked before the call, so an invalid change is one that does not fit this quota.
  const why = code === 'invalid_request' ? unfit[String(change.action)] : undefined
  return {
    place: texts.manyQuotas.jobs.quotaOfUser(quota_id, user_id),
    reason: why ?? reasonOf(record),
    subject: quota_id,
  }
}

/** A row of an import, and where it comes from. */
export interface ImportLine {
  /** A quota as JSON, without line breaks. */
  json: string
  /** For example "Line 3". */
  place: string
}

/** Rows and characters of a call. It takes a second or two, and proxies let bodies of this size through. */
const PIECE = { rows: 2_000, characters: 256 * 1_024 }

/** The job that imports rows, or only asks what that would do. */
export function importJob(lines: readonly ImportLine[], { isDryRun }: { isDryRun: boolean }): Job {
  let result = NOTHING_DONE
  return async ({ report, signal }) => {
    while (result.done < lines.length) {
      const before = result
      const add = (progress: Progress) => {
        result = sumOf([before, progress])
        report(result)
      }
      await importPiece(pieceFrom(lines, before.done), isDryRun, signal, add)
    }
  }
}

function pieceFrom(lines: readonly ImportLine[], start: number): readonly ImportLine[] {
  let characters = 0
  const rows = lines.slice(start, start + PIECE.rows)
  const full = rows.findIndex(({ json }) => {
    characters += json.length
    return characters > PIECE.characters
  })
  return full === -1 ? rows : rows.slice(0, Math.max(1, full))
}

/** @param report gets what became of the rows, also if the service stops */
async function importPiece(
  piece: readonly ImportLine[],
  isDryRun: boolean,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<void> {
  const refused: Extract<ImportRecord, { record: 'failed' }>[] = []
  const records = recordsOf('POST /admin/quota/import', {
    query: { dry_run: `${isDryRun}` },
    lines: `${piece.map(({ json }) => json).join('\n')}\n`,
    signal,
  })
  for await (const record of records) {
    if (record.record === 'failed') refused.push(record)
    if (record.record !== 'end' && record.record !== 'stopped') continue
    const { created, updated, unchanged } = record
    const done = record.record === 'end' ? piece.length : record.line
    // Rows after that are sent again, and refused again.
    const settled = refused.filter(({ line }) => line <= done)
    report({
      done,
      counts: { created, updated, unchanged },
      failed: record.record === 'end' ? record.failed : settled.length,
      failures: settled.flatMap(failure => importFailures(failure, piece)),
    })
  }
}

/** One for each field that is wrong. */
function importFailures(
  { line, code, detail, errors }: Extract<ImportRecord, { record: 'failed' }>,
  piece: readonly ImportLine[],
): Failure[] {
  const place = piece[line - 1]?.place ?? ''
  if (errors === undefined) {
    const ref = code === 'unknown_user' ? referenceIn(piece[line - 1]) : undefined
    return [
      { place, reason: reasonOf({ code, detail }), subject: place, ...(ref === undefined ? {} : { detail: ref }) },
    ]
  }
  return errors.map(({ path, message }) => {
    const [, column = ''] = path.split('/')
    const key = kindOfFault(column, message)
    if (column === '') return { place, reason: message, subject: place, kind: { key, label: message } }
    const label = texts.manyQuotas.jobs.ofColumn(column, ruleOf(message))
    return { place: texts.manyQuotas.jobs.column(place, column), reason: message, subject: place, kind: { key, label } }
  })
}

function referenceIn(row: ImportLine | undefined): string | undefined {
  const { user_ref }: { user_ref?: string } = JSON.parse(row?.json ?? '{}')
  return user_ref
}
