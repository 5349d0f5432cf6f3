/**
 * A worker that takes messages from a queue in PostgreSQL and sends each with a reservation. A job may be taken again after a
 * worker has died; its message is not sent or charged again. README.md says how to run it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createClient, type Denied, UnavailableError, UnknownIfSent } from 'sms-quota-client'

const { DATABASE_URL, PROVIDER_URL = '', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
const quota = createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '' })
/** Jobs of this process at a time. */
const CONCURRENCY = 4
const database = new pg.Pool({ connectionString: DATABASE_URL, max: CONCURRENCY })
// An idle connection was lost. The next statement opens another.
database.on('error', error => console.error(`the queue: ${error}`))

/** Longer than a job can take: two calls of sms-quota and one of the provider. Then the job is taken again. */
const LEASE_SECONDS = 60
const PROVIDER_TIMEOUT_MS = 10_000
const POLL_MS = 200
/** How long a worker waits after an error of the queue's database. */
const ERROR_PAUSE_MS = 2_000
/** How soon a job is tried again while sms-quota is away. */
const RETRY_SECONDS = 30
/** A denied message that may be sent within this time waits for it. Later, it would be of no use. */
const MAX_DELAY_SECONDS = 86_400
/** How long a person has to settle a message of which it is not known whether it was sent. Then it is free. */
const TTL_SECONDS = 7 * 86_400

interface Job {
  id: string
  user_id: string
  recipient: string
  body: string
  attempt: number
  /** An attempt before has no outcome: its worker has died, or is slower than its lease. */
  is_repeated: boolean
}

interface Outcome {
  state: 'waiting' | 'sent' | 'denied' | 'failed' | 'unknown'
  note?: string
  runAt?: Date
}

async function takeJob(): Promise<Job | undefined> {
  const { rows } = await database.query<Job>(
    `with due as (
       select id, state from sms_job where state in ('waiting', 'sending') and run_at <= now()
       order by run_at limit 1 for update skip locked
     )
     update sms_job set state = 'sending', attempt = attempt + 1, run_at = now() + make_interval(secs => $1)
     from due where sms_job.id = due.id
     returning sms_job.id, user_id, recipient, body, attempt, due.state = 'sending' as is_repeated`,
    [LEASE_SECONDS],
  )
  return rows[0]
}

/** Whether no other worker has taken the job meanwhile; false also if that cannot be known. */
async function isOurs({ id, attempt }: Job): Promise<boolean> {
  const found = database.query('select from sms_job where id = $1 and attempt = $2', [id, attempt])
  return found.then(
    ({ rowCount }) => rowCount === 1,
    () => false,
  )
}

/** Has no effect if another worker has taken the job meanwhile. */
async function finishJob({ id, attempt }: Job, { state, note, runAt }: Outcome): Promise<void> {
  await database.query(
    'update sms_job set state = $3, note = $4, run_at = coalesce($5, run_at) where id = $1 and attempt = $2',
    [id, attempt, state, note ?? null, runAt ?? null],
  )
}

async function sendJob(job: Job): Promise<Outcome> {
  const { id, user_id, recipient, body, is_repeated } = job
  const message = { userId: Number(user_id), id: `job-${id}` }
  try {
    const sent = await quota.withReservation(
      {
        ...message,
        message: { to: recipient, text: body },
        ttlSeconds: TTL_SECONDS,
        // Committed after the send, so that it is known of a worker that has died whether it had sent.
        onExpiry: 'release',
      },
      async reservation => {
        if (reservation?.replayed === true && !(await isOurs(job)))
          throw new UnknownIfSent('another worker has the job')
        await send(recipient, body, message.id)
      },
      // Each attempt before has said that it sent nothing, unless its worker has died.
      { onRepeated: is_repeated ? 'unknown' : 'send' },
    )
    if (!sent.granted) return denied(sent)
    return sent.sent === 'unknown' ? { state: 'unknown', note: sent.error.message } : { state: 'sent' }
  } catch (error) {
    // Nothing was sent.
    if (error instanceof UnavailableError) return { state: 'waiting', note: error.message, runAt: after(RETRY_SECONDS) }
    return { state: 'failed', note: String(error) }
  }
}

function denied({ reason, retryAt }: Denied): Outcome {
  if (retryAt === null || new Date(retryAt) > after(MAX_DELAY_SECONDS)) return { state: 'denied', note: reason }
  const runAt = new Date(Math.max(Date.parse(retryAt), Number(after(RETRY_SECONDS))))
  return { state: 'waiting', note: reason, runAt }
}

const after = (seconds: number) => new Date(Date.now() + seconds * 1_000)

/** Any provider that takes `{ to, text }` as JSON. Change this for yours. */
async function send(to: string, text: string, id: string): Promise<void> {
  const answer = await fetch(PROVIDER_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify({ to, text }),
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
  }).catch(cause => {
    throw new UnknownIfSent('the provider did not answer', { cause })
  })
  // With a 5xx, the provider may have taken the message all the same.
  if (answer.status >= 500) throw new UnknownIfSent(`the provider answered ${answer.status}`)
  if (!answer.ok) throw new Error(`the provider refused the message: ${answer.status}`)
}

let isStopping = false
process.once('SIGTERM', () => {
  isStopping = true
})

async function work(): Promise<void> {
  while (!isStopping) {
    try {
      const job = await takeJob()
      if (job === undefined) await pause(POLL_MS)
      else await finishJob(job, await sendJob(job))
    } catch (error) {
      // A job without an outcome is taken again when its lease ends.
      console.error(`the queue: ${error}`)
      await pause(ERROR_PAUSE_MS)
    }
  }
}

console.log('the worker waits for jobs')
await Promise.all(Array.from({ length: CONCURRENCY }, work))
await database.end()
