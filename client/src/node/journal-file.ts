/**
 * A file of changes, appended line by line. A line is a checksum and a JSON list of the changes that were written together,
 * so after a power cut only the last line can be incomplete.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ReserveReq } from '../api.ts'
import type { MessageName } from '../user.ts'

export type Change =
  | { readonly op: 'begin'; readonly request: ReserveReq; readonly at: string; readonly mayBeCommitted?: boolean }
  | ({ readonly op: 'sent' | 'not-sent' | 'removed' } & MessageName)

export interface JournalFile {
  /** Resolves when the change is on disk. Changes of the same time share a write and an fsync. */
  append(change: Change): Promise<void>
  close(): Promise<void>
}

/** What the changes come to, in memory. A change is made there before it is appended. */
interface State {
  restore(change: Change): void
  /** The number of debts. */
  size(): number
  /** The changes that lead to it from nothing: at most two for each debt. */
  changes(): Change[]
}

const SUM_LENGTH = 16
/** Tells a journal from other files, and later versions from this one. */
const HEADER = lineOf([{ journal: 'sms-quota-client', version: 1 }])
/** A file is written anew when it has this many changes more than its state needs: some MB of typical messages. */
const MAX_SUPERFLUOUS = 20_000
/** The API takes no larger body. */
const MAX_CHANGE = 64 * 1024
const CHANGES_PER_LINE = 100

/** @throws Error if the file is no journal, or is damaged before its last line */
export async function openJournalFile(path: string, state: State): Promise<JournalFile> {
  for (const change of parse(path, await readIfExists(path))) state.restore(change)
  const file = await openReplaceable(path, state)
  let isDamaged = false
  let isClosed = false
  let writing: Promise<void> | null = null
  let pending: { change: Change; resolve: () => void; reject: (error: unknown) => void }[] = []

  async function write(changes: readonly Change[]): Promise<void> {
    if (isDamaged) await file.checkIsOurs()
    // Without debts, no text of a message stays on the disk.
    if (isDamaged || state.size() === 0 || file.size() + changes.length > 2 * state.size() + MAX_SUPERFLUOUS) {
      await file.rewrite()
      isDamaged = false
      return
    }
    await file.add(changes)
    await file.checkIsOurs()
  }

  async function writeAll(): Promise<void> {
    // What is appended in this tick goes together.
    await Promise.resolve()
    while (pending.length > 0) {
      const group = pending
      pending = []
      try {
        await write(group.map(({ change }) => change))
        for (const { resolve } of group) resolve()
      } catch (error) {
        // What is on disk is not known now. The next write begins a new file.
        isDamaged = true
        for (const { reject } of group) reject(error)
      }
    }
    writing = null
  }

  return {
    append: change =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new Error('the journal is closed')
        if (JSON.stringify(change).length > MAX_CHANGE) throw new RangeError('the message is larger than 64 KiB')
        pending.push({ change, resolve, reject })
        writing ??= writeAll()
      }),
    async close() {
      isClosed = true
      await writing
      await file.close()
    },
  }
}

/** What a journal holds, also while another process has it open. @throws Error if there is none, or if it is damaged */
export async function readJournalFile(path: string): Promise<Iterable<Change>> {
  const text = await readIfExists(path)
  if (text === '') throw new Error(`there is no journal at ${path}`)
  return parse(path, text)
}

/** The file that has the path, which another one with the same state can replace. */
async function openReplaceable(path: string, state: State) {
  let { handle, size, ino } = await writeNew(path, state)
  /** The file that was begun last; it may have taken the place of the one before, even if that failed. */
  let newest = ino
  try {
    await rename(`${path}.new`, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await handle.close()
    throw error
  }
  /** Deleted or replaced, the file would keep nothing. */
  async function checkIsOurs(): Promise<void> {
    const found = await stat(path).catch(error => {
      if (hasCode(error, 'ENOENT')) return null
      throw error
    })
    if (found?.ino !== ino && found?.ino !== newest)
      throw new Error(`${path} was removed or replaced while it was open`)
  }

  /** Begins a new file, which then takes the place of the old one. */
  async function rewrite(): Promise<void> {
    const next = await writeNew(path, state)
    newest = next.ino
    const old = handle
    try {
      await rename(`${path}.new`, path)
    } catch (error) {
      await next.handle.close()
      throw error
    }
    ;({ handle, size, ino } = next)
    try {
      await syncFolder(dirname(path))
    } finally {
      await old.close()
    }
  }

  return {
    /** The number of changes in it. */
    size: () => size,
    checkIsOurs,
    rewrite,
    /** Resolves when they are on disk. */
    async add(changes: readonly Change[]): Promise<void> {
      await handle.writeFile(lineOf(changes))
      await handle.sync()
      size += changes.length
    },
    close: () => handle.close(),
  }
}

async function readIfExists(path: string): Promise<string> {
  try {
    // A pipe would be waited for.
    if (!(await stat(path)).isFile()) throw new Error(`${path} is a pipe, a folder or a device, not a regular file`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function* parse(path: string, text: string): Generator<Change> {
  if (text === '') return
  const lines = text.split('\n')
  if (`${lines[0]}\n` !== HEADER) throw new Error(`${path} is not a journal of this version of sms-quota-client`)
  // Behind the last line end is nothing, or a part of a line.
  const rest = lines.pop()
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue
    const json = line.slice(SUM_LENGTH + 1)
    if (line.slice(0, SUM_LENGTH) === sumOf(json)) yield* JSON.parse(json) as Change[]
    else if (index < lines.length - 1 || rest !== '') throw new Error(`${path} is damaged in line ${index + 1}`)
  }
}

function sumOf(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, SUM_LENGTH)
}

function lineOf(changes: readonly unknown[]): string {
  const json = JSON.stringify(changes)
  return `${sumOf(json)} ${json}\n`
}

/** Writes the state to a new file beside the old one. @returns it, open at its end, and how many changes it has */
async function writeNew(path: string, state: State): Promise<{ handle: FileHandle; size: number; ino: number }> {
  const changes = state.changes()
  const handle = await open(`${path}.new`, 'w', 0o600)
  try {
    await handle.writeFile(HEADER)
    for (let n = 0; n < changes.length; n += CHANGES_PER_LINE) {
      await handle.writeFile(lineOf(changes.slice(n, n + CHANGES_PER_LINE)))
    }
    await handle.sync()
    return { handle, size: changes.length, ino: (await handle.stat()).ino }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Makes a rename last. Windows cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
