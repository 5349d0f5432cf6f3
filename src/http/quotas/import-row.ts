/** Reads a row of an import: its JSON, and the schema. */
import type { ImportedQuota } from '../../admin/import-quotas.ts'
import { ImportRow } from '../../contract/import.ts'
import { compileCheck, firstIssues, type Issues } from '../platform/validation.ts'
import { importedQuotaOf } from './requests.ts'

/** The maximum length of a line: what the body of a creation may have. */
export const MAX_LINE_BYTES = 64 * 1024

type ReadRow = { quota: ImportedQuota } | { issues: Issues }

/** A function that reads the text of a line; null stands for one that is too long or not UTF-8. */
export function createRowReader(): (text: string | null) => ReadRow {
  const check = compileCheck(ImportRow)
  return text => {
    if (text === null) return notReadable(`must be a line of UTF-8 of at most ${MAX_LINE_BYTES} bytes`)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return notReadable('must be one JSON object a line')
    }
    const issues = check(value)
    return issues === null ? { quota: importedQuotaOf(value as ImportRow) } : { issues: firstIssues(issues) }
  }
}

const notReadable = (message: string): ReadRow => ({ issues: [{ path: '', message }] })
