/** The journal of debts on disk, for Node.js: `sms-quota-client/journal`. */
import type { ReserveReq } from '../api.ts'
import type { Debt, Journal } from '../debts.ts'
import { JournalFull } from '../errors.ts'
import { messageKey, messageOf } from '../user.ts'
import { type Change, type JournalFile, openJournalFile, readJournalFile } from './journal-file.ts'
import { lock, realPath } from './lock.ts'

export interface JournalOptions {
  /** Debts that it holds at most; 10,000 if left out. Further messages are denied with JournalFull. */
  maxEntries?: number
  /**
   * Reports a message of which it is not known whether it left, and decides whether it is charged. It is called before that is
   * done, and again if the process ends in between.
   */
  onUnknown: (debt: Debt) => 'charge' | 'release' | Promise<'charge' | 'release'>
  /**
   * The service refused to settle a debt, for example because the token may not force. It is tried again every minute,
   * but for a user that the service does not know (`unknown_user`): such a debt leaves the journal.
   */
  onRefused?: (debt: Debt, error: unknown) => void
}

const MAX_ENTRIES = 10_000

type Outcome = Debt['outcome']

/** What is left of several sends of one message: the highest. */
const RANK: Record<Outcome, number> = { 'not-sent': 0, unknown: 1, sent: 2 }

interface Entry {
  debt: Debt
  /** The outcome of the sends that have ended; null if none has. */
  ended: Outcome | null
  /** Sends of this process that are under way. */
  sends: number
  /** Resolves when its begin is on disk. */
  written: Promise<void>
}

/**
 * Opens a journal, or creates it. One process at a time may have it open.
 *
 * @param path on a local disk. Beside it are a socket, `<path>.lock…` (`<path>.wait…` until it answers), and, while it is written anew, `<path>.new`.
 * @throws Error if another process has it open, or if it is damaged in another way than by a power cut
 */
export async function openJournal(path: string, options: JournalOptions): Promise<Journal> {
  const unlock = await lock(path)
  try {
    return await openLocked(await realPath(path), options, unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

/**
 * The debts in a journal, in the order in which their sends began. It changes nothing, and another process may have the journal
 * open; of that process's sends, those under way are `unknown`.
 *
 * @throws Error if there is no journal, or if it is damaged in another way than by a power cut
 */
export async function readJournal(path: string): Promise<Debt[]> {
  const entries = new Map<string, Entry>()
  for (const change of await readJournalFile(path)) restore(entries, change)
  return [...entries.values()].map(({ debt }) => debt)
}

async function openLocked(path: string, options: JournalOptions, unlock: () => Promise<void>): Promise<Journal> {
  const { maxEntries = MAX_ENTRIES, onUnknown, onRefused = () => {} } = options
  const entries = new Map<string, Entry>()
  let isClosed = false
  const file = await openJournalFile(path, {
    restore: change => restore(entries, change),
    size: () => entries.size,
    changes: () => [...entries.values()].flatMap(changesOf),
  })

  /** @throws JournalFull */
  function entryOf(request: ReserveReq): Entry {
    const key = messageKey(request)
    const known = entries.get(key)
    if (known !== undefined) return known
    if (entries.size >= maxEntries) throw new JournalFull(maxEntries)
    const entry = newEntry(request, new Date().toISOString())
    entries.set(key, entry)
    return entry
  }

  return {
    debts: () => [...entries.values()].map(({ debt }) => debt),
    due: () => (isClosed ? [] : [...entries.values()].filter(({ sends }) => sends === 0).map(({ debt }) => debt)),
    find: message => entries.get(messageKey(message))?.debt,
    onUnknown,
    onRefused,

    async begin(request, mayBeCommitted = request.onExpiry === 'commit') {
      const entry = entryOf(request)
      await beginSend(file, entry, mayBeCommitted).catch(error => {
        if (entry.sends === 0 && entry.ended === null) entries.delete(messageKey(request))
        throw error
      })
      return outcome => endSend(file, entry, outcome)
    },

    async remove(debts) {
      const removed = debts.flatMap(debt => {
        const key = messageKey(debt.request)
        const entry = entries.get(key)
        if (entry === undefined || entry.debt !== debt || entry.sends > 0) return []
        entries.delete(key)
        return [file.append(changeOf('removed', entry))]
      })
      await Promise.all(removed)
    },

    async close() {
      isClosed = true
      await file.close()
      await unlock()
    },
  }
}

/** Resolves when the debt is on disk. */
async function beginSend(file: JournalFile, entry: Entry, mayBeCommitted: boolean): Promise<void> {
  // On disk it reads as unknown or sent already, unless it is new or all its sends have failed.
  const isNew = entry.sends === 0 && (entry.ended === null || entry.ended === 'not-sent')
  const mustWrite = isNew || (mayBeCommitted && entry.debt.mayBeCommitted !== true && entry.ended !== 'sent')
  if (mayBeCommitted) entry.debt = { ...entry.debt, mayBeCommitted }
  entry.sends += 1
  // If it is being settled at this time, that does not remove it: it is another debt now.
  entry.debt = debtOf(entry)
  if (mustWrite) entry.written = file.append(beginOf(entry))
  try {
    await entry.written
  } catch (error) {
    entry.sends -= 1
    entry.debt = debtOf(entry)
    throw error
  }
}

/** If the disk fails, this process knows the outcome nevertheless; the next one would report it as unknown. */
async function endSend(file: JournalFile, entry: Entry, outcome: Outcome): Promise<void> {
  entry.sends -= 1
  if (entry.ended === null || RANK[outcome] > RANK[entry.ended]) entry.ended = outcome
  entry.debt = debtOf(entry)
  if (entry.debt.outcome !== 'unknown') await file.append(changeOf(entry.debt.outcome, entry)).catch(() => {})
}

function newEntry(request: ReserveReq, at: string): Entry {
  return { debt: { request, at, outcome: 'unknown' }, ended: null, sends: 0, written: Promise.resolve() }
}

/** Its debt as it is now. */
function debtOf({ debt, ended, sends }: Entry): Debt {
  const isOpen = sends > 0 && ended !== 'sent'
  return { ...debt, outcome: isOpen || ended === null ? 'unknown' : ended }
}

function restore(entries: Map<string, Entry>, change: Change): void {
  if (change.op === 'begin') {
    const entry = newEntry(change.request, change.at)
    if (change.mayBeCommitted === true) entry.debt = { ...entry.debt, mayBeCommitted: true }
    entries.set(messageKey(change.request), { ...entry, ended: 'unknown' })
    return
  }
  const key = messageKey(change)
  const entry = entries.get(key)
  if (change.op === 'removed') {
    entries.delete(key)
  } else if (entry !== undefined) {
    entry.ended = change.op
    entry.debt = { ...entry.debt, outcome: change.op }
  }
}

function changesOf(entry: Entry): Change[] {
  const { outcome } = entry.debt
  return outcome === 'unknown' ? [beginOf(entry)] : [beginOf(entry), changeOf(outcome, entry)]
}

function beginOf({ debt: { request, at, mayBeCommitted } }: Entry): Change {
  return { op: 'begin', request, at, ...(mayBeCommitted === true ? { mayBeCommitted } : {}) }
}

function changeOf(op: 'sent' | 'not-sent' | 'removed', { debt: { request } }: Entry): Change {
  return { op, ...messageOf(request) }
}
