/**
 * `npm run demo`: a service with the data of a platform in use, and live traffic, to look around in. It serves from an
 * embedded database in a temporary folder, which it deletes at the end (Ctrl-C). PORT is its port, 8080 if left out.
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { startDemo } from './demo/service.ts'

// A month and more than a week, so that a whole one is seen, a forecast, and how much more is sent than before.
const { values } = parseArgs({ options: { days: { type: 'string', default: '40' } } })

process.stderr.write(
  `It takes about ${Math.ceil(Number(values.days) / 3)} s until the console can be opened: most of it sends the messages of the past.\n`,
)
const stopping = new AbortController()
// They stay: npm forwards the Ctrl-C that the terminal has sent to all its processes already.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort())
const { signal } = stopping

try {
  const { links, close } = await startDemo({
    port: Number(process.env.PORT ?? 8080),
    pastDays: Number(values.days),
    onProgress: text => process.stderr.write(`${text}\n`),
    signal,
  })
  process.stdout.write(`
The demo runs. Open its console; each link signs you in for a day, as

an administrator, who decides: look at users 4711, 1042 and 7
${links.administrator}

support staff, who help: give user 4711 units, within a bound
${links.support}

an auditor, who reads: look at the changes
${links.auditor}

customer 4711, who is blocked: ask for more units
${links.customer}

User 4711 is blocked by a daily cap, user 1042 has a spike of messages to Nigeria, and user 7 has units for some four days.
Messages are sent while you look. Ctrl-C stops the demo and deletes its data.

`)
  if (!signal.aborted) await once(signal, 'abort')
  await close()
} catch (error) {
  if (!signal.aborted) throw error
}
