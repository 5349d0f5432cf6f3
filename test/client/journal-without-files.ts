/** A process that may open few files, and whose journal finds none left when it writes its file anew. */
import { closeSync, openSync } from 'node:fs'
import { openJournal } from '../../client/src/node/journal.ts'

const journal = await openJournal(process.argv[2] ?? '', { onUnknown: () => 'charge' })
const ask = (id: string) => ({ userId: 1, id, units: 1 })
const outcomes: string[] = []
const note = (done: Promise<unknown>) =>
  done.then(
    () => outcomes.push('done'),
    error => outcomes.push(error.code ?? error.message),
  )

await (await journal.begin(ask('first')))('sent')
// One is left for the new file, and none for the folder; then none at all.
for (const left of [1, 0]) {
  const files: number[] = []
  try {
    for (;;) files.push(openSync('/dev/null', 'r'))
  } catch {}
  for (const file of files.splice(0, left)) closeSync(file)
  await note(journal.remove(journal.debts()))
  for (const file of files) closeSync(file)
  await note(journal.begin(ask(`with ${left}`)).then(end => end('sent')))
}
await journal.close()
console.log(JSON.stringify(outcomes))
