/**
 * How the service counts segments, as a header of its answers to senders: an agent that counts texts itself must count them
 * alike. The value is a dictionary of structured fields (RFC 9651).
 */
import { type SegmentRules, SHIFT_TABLES } from '../domain/messages/segment-rules.ts'

export const SEGMENTS_HEADER = 'sms-quota-segments'

export function writeSegmentRules({ split, referenceBits, shiftTables }: SegmentRules): string {
  return `split=${split}, reference-bits=${referenceBits}, shift-tables=(${shiftTables.join(' ')})`
}

const FORM = /^split=(graphemes|code-units), reference-bits=(8|16), shift-tables=\(([a-z ]*)\)$/

/** Null for what `writeSegmentRules` does not write: a newer service may have further rules. */
export function readSegmentRules(text: string): SegmentRules | null {
  const [, split, bits, names = ''] = FORM.exec(text) ?? []
  const shiftTables = names.split(' ').flatMap(name => SHIFT_TABLES.find(table => table === name) ?? [])
  const rules: SegmentRules = {
    split: split === 'code-units' ? 'code-units' : 'graphemes',
    referenceBits: bits === '16' ? 16 : 8,
    shiftTables,
  }
  return writeSegmentRules(rules) === text ? rules : null
}
