/** A process whose files may not grow beyond some KiB, as on a disk that is full: its journal is cut within a line. */
import { openJournal } from '../../client/src/node/journal.ts'

const journal = await openJournal(process.argv[2] ?? '', { onUnknown: () => 'charge' })
const refused: string[] = []
let made = 0

async function begin(): Promise<boolean> {
  const id = `m${made++}`
  const end = await journal.begin({ userId: 1, id, units: 1 }).catch((error: NodeJS.ErrnoException) => {
    refused.push(error.code ?? error.message)
    return null
  })
  await end?.('sent')
  return end !== null
}

// A file that begins anew is shorter, and has room for some more.
while ((await begin()) || (await begin()));
const full = journal.debts()
await journal.remove(full.slice(1))
await begin()
const kept = journal.debts().map(({ request }) => request.id)
await journal.close()
console.log(JSON.stringify({ refused: [...new Set(refused)], full: full.length, kept, last: `m${made - 1}` }))
