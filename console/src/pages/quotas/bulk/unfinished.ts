import type { BulkAction } from '../../../model/bulk-change.ts'
import type { Confirmed } from './bulk-preview.tsx'

/** A change that was confirmed and has not ended. */
export interface Unfinished {
  action: BulkAction
  confirmed: Confirmed
  /** Who confirmed it. The service keeps the keys of each principal apart, so no other principal may go on with it. */
  subject: string
}

const STORED = 'sms-quota.unfinished-change'

/** Keeps a change while the tab is open: after a reload it goes on under the same key, and so changes nothing twice. */
export function keepUnfinished(unfinished: Unfinished): void {
  try {
    sessionStorage.setItem(STORED, JSON.stringify(unfinished))
  } catch {
    // Larger than the browser stores. The change goes on, but not after a reload.
  }
}

export function forgetUnfinished(): void {
  sessionStorage.removeItem(STORED)
}

/** The change that this tab has not ended. Only the console writes there, so what is stored has this form. */
export function unfinishedOf(subject: string): Unfinished | null {
  const stored: Unfinished | null = JSON.parse(sessionStorage.getItem(STORED) ?? 'null')
  return stored?.subject === subject ? stored : null
}
