/**
 * `npm run demo`: a service with the data of a platform in use, and live traffic, to look around in. It serves from an
 * embedded database in a temporary folder, which it deletes at the end (Ctrl-C). PORT is its port, 8080 if left out.
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { startDemo } from './demo/service.ts'

// More than a month, so that a whole one is seen, and a forecast.
const { values } = parseArgs({ options: { days: { type: 'string', default: '33' } } })

process.stderr.write(
  `It takes about ${Math.ceil(Number(values.days) / 3)} s until the console can be opened: most of it sends the messages of the past.\n`,
)
const stopping = new AbortController()
// They stay: npm forwards the Ctrl-C that the terminal has sent to all its processes already.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort())
const { signal } = stopping

try {
  const { console: link, close } = await startDemo({
    port: Number(process.env.PORT ?? 8080),
    pastDays: Number(values.days),
    onProgress: text => process.stderr.write(`${text}\n`),
    signal,
  })
  process.stdout.write(`
The demo runs. Open its console (the link signs you in as an administrator):

${link}

Look at user 4711 (blocked by a daily cap), user 1042 (a spike of messages to Nigeria) and user 7 (runs out this week).
Messages are sent while you look. Ctrl-C stops the demo and deletes its data.

`)
  if (!signal.aborted) await once(signal, 'abort')
  await close()
} catch (error) {
  if (!signal.aborted) throw error
}
