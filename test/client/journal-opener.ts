/** A process that opens a journal again and again, and leaves a socket behind each time, as a killed one does. Prints when it had it. */
import { link, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openJournal } from '../../client/src/node/journal.ts'

const path = process.argv[2] ?? ''
const held: [begin: bigint, end: bigint][] = []
for (let n = 0; n < 40; n++) {
  const journal = await openJournal(path, { onUnknown: () => 'charge' }).catch(() => null)
  if (journal === null) continue
  const begin = process.hrtime.bigint()
  const sockets = (await readdir(dirname(path))).filter(name => name.startsWith(`${basename(path)}.lock`))
  const aside = sockets.map(name => [
    join(dirname(path), name),
    join(dirname(path), `left-${process.pid}-${n}-${name}`),
  ])
  for (const [socket = '', left = ''] of aside) await link(socket, left).catch(() => {})
  // Long enough for another one to come.
  for (let reads = 0; reads < 20; reads++) await readdir(dirname(path))
  held.push([begin, process.hrtime.bigint()])
  await journal.close()
  for (const [socket = '', left = ''] of aside) await link(left, socket).catch(() => {})
}
console.log(JSON.stringify(held.map(times => times.map(Number))))
