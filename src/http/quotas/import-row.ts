/** Reads a row of an import: its JSON, and the schema. */
import type { ImportedQuota } from '../../admin/import-quotas.ts'
import { ImportRow } from '../../contract/import.ts'
import { readJson } from '../platform/json-text.ts'
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
    const read = readJson(text)
    if ('issues' in read) return read
    const issues = check(read.value)
    return issues === null ? { quota: importedQuotaOf(read.value as ImportRow) } : { issues: firstIssues(issues) }
  }
}

const notReadable = (message: string): ReadRow => ({ issues: [{ path: '', message }] })
