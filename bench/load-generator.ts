/**
 * The load generator: sends requests to a server and measures how long each takes. It is a process of its own, so that
 * its CPU time is counted apart from the server's.
 */
import { constants, setPriority } from 'node:os'
import { type Connection, openConnection } from './load-generator/connection.ts'
import { createHistogram, type Histogram } from './load-generator/histogram.ts'
import { type Job, type LoadResult, MEASURED, MEASURING } from './load-generator/job.ts'
import { createMixed } from './load-generator/mix.ts'
import { createQueue } from './load-generator/queue.ts'
import { createReserves, homesOf, urlOf } from './load-generator/requests.ts'
import { serveParent } from './servers/worker.ts'

type Note = (text: string) => void

serveParent((job: Job, note: Note) => run(job, note))

/** How long to wait for the last responses before the run fails. */
const TIMEOUT_MS = 30_000

async function run(job: Job, note: Note): Promise<LoadResult> {
  // No priority is ever raised again, which takes rights.
  if (job.isLowPriority === true) setPriority(constants.priority.PRIORITY_LOW)
  const homes = homesOf(job)
  const begin = performance.now()
  const from = begin + job.warmupMs
  const until = from + job.measureMs
  const latencies = createHistogram()
  const overloaded = createHistogram()
  let operations = 0
  let refused = 0
  let firstRefusal: string | null = null
  let stop = (_error?: Error) => {}
  const stopped = new Promise<void>((resolve, reject) => {
    stop = error => (error === undefined ? resolve() : reject(error))
  })

  async function open(number: number): Promise<LoadConnection> {
    const requests = job.mix === undefined ? createReserves(job, number, homes) : createMixed(job, job.mix, number)
    // When the calls in flight were due, in the order of their responses.
    const due = createQueue<number>()
    let answered = 0
    const { hostname, port } = urlOf(job, number)
    const connection = await openConnection({
      host: hostname,
      port: Number(port),
      onResponse(status, bytes, start, end) {
        answered += 1
        const now = performance.now()
        const dueAt = due.shift() ?? Number.NaN
        const unexpected = requests.take(status, bytes, start, end)
        if (job.rate === null ? now < from || now > until : dueAt < from || dueAt > until) return
        latencies.add(now - dueAt)
        operations += job.operations
        if (status === 503) overloaded.add(now - dueAt)
        if (unexpected === 0) return
        refused += unexpected
        firstRefusal ??= `${status} ${bytes.toString('utf8', start, Math.min(end, start + 500))}`
      },
      onChunkEnd() {
        const count = answered
        answered = 0
        if (job.rate === null && performance.now() < until) send(count)
      },
      onLost: stop,
    })
    function send(count: number, dueAt = performance.now()): void {
      let text = ''
      for (let n = 0; n < count; n++) {
        text += requests.next()
        due.push(dueAt)
      }
      if (count > 0) connection.send(text)
    }
    return { connection, send, inFlight: () => due.length() }
  }

  const connections = await Promise.all(Array.from({ length: job.connections }, (_, number) => open(number)))
  setTimeout(() => note(MEASURING), job.warmupMs)
  let isMeasured = false
  setTimeout(() => {
    note(MEASURED)
    isMeasured = true
  }, job.warmupMs + job.measureMs)
  const timeout = setTimeout(
    () => stop(new Error('the server did not answer all calls')),
    job.warmupMs + job.measureMs + TIMEOUT_MS,
  )
  const poll = setInterval(() => {
    if (isMeasured && connections.every(connection => connection.inFlight() === 0)) stop()
  }, 5)
  const pacing = job.rate === null ? null : pace(connections, job.rate, begin, until)
  if (job.rate === null) for (const connection of connections) connection.send(job.depth)
  try {
    await stopped
  } finally {
    clearTimeout(timeout)
    clearInterval(poll)
    if (pacing !== null) clearInterval(pacing)
    for (const { connection } of connections) connection.close()
  }
  return {
    operations,
    refused,
    firstRefusal,
    overloaded: { calls: overloaded.count, ...quantilesOf(overloaded) },
    seconds: job.measureMs / 1000,
    ...quantilesOf(latencies),
  }
}

/** A connection with the calls in flight on it. */
interface LoadConnection {
  connection: Connection
  send(count: number, dueAt?: number): void
  /** Calls without a response so far. */
  inFlight(): number
}

/** Calls that a connection sends ahead of their answers, at most: the service closes one with more than twice as many. */
const MAX_AHEAD = 16

/**
 * Sends each call when it is due, or as soon as the timer fires and a connection has room, on an idle connection if there is one: on a
 * busy one its response would wait for those before it. Latency counts from the due time.
 */
function pace(connections: readonly LoadConnection[], rate: number, begin: number, until: number): NodeJS.Timeout {
  let sent = 0
  return setInterval(() => {
    const now = Math.min(performance.now(), until)
    for (let dueAt = begin + (sent * 1000) / rate; dueAt <= now; dueAt = begin + (sent * 1000) / rate) {
      const connection = leastBusy(connections, sent % connections.length)
      if (connection === undefined) return
      connection.send(1, dueAt)
      sent += 1
    }
  }, 1)
}

/** The first idle connection from `from` on, in rotation, else the one with the fewest calls in flight; undefined if all are full. */
function leastBusy(connections: readonly LoadConnection[], from: number): LoadConnection | undefined {
  let least: LoadConnection | undefined
  let fewest = MAX_AHEAD
  for (let n = 0; n < connections.length && fewest > 0; n++) {
    const connection = connections[(from + n) % connections.length]
    if (connection === undefined || connection.inFlight() >= fewest) continue
    least = connection
    fewest = connection.inFlight()
  }
  return least
}

function quantilesOf(latencies: Histogram): { p50: number; p99: number } {
  return { p50: latencies.quantile(0.5), p99: latencies.quantile(0.99) }
}
