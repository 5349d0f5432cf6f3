/**
 * A mix of calls on one connection: messages are reserved, then committed, released, repeated or read. The sequence of
 * kinds and users depends only on the number of the connection and on the order of the responses.
 */
import type { Job, Mix, MixKind } from './job.ts'
import { createQueue } from './queue.ts'
import { grantsIn, headersOf, postOf, type Requests, SENDER_PATH, seededRandom } from './requests.ts'

interface Message {
  user: number
  id: string
}

/** Messages of a connection that later calls may settle, repeat or read. Newer ones replace the oldest. */
const MAX_OPEN = 1_024

const PATHS: Record<Exclude<MixKind, 'find'>, string> = {
  reserve: 'reserve',
  denied: 'reserve',
  repeat: 'reserve',
  check: 'check',
  commit: 'commit',
  release: 'release',
}

/** A call that needs an earlier message reserves instead while there is none. */
export function createMixed(job: Job, mix: Mix, connection: number): Requests {
  const { users, firstUser = 1, deniedUsers = 0, prefix } = job
  const kinds = Object.entries(mix).flatMap(([kind, percent]) => Array<MixKind>(percent).fill(kind as MixKind))
  if (kinds.length !== 100) throw new Error(`the mix has ${kinds.length} percent`)
  if (mix.denied !== undefined && deniedUsers === 0) throw new Error('a mix with denials needs deniedUsers')
  const random = seededRandom(connection)
  const below = (count: number) => Math.floor(random() * count)
  const post = postOf(job, connection)
  const headers = headersOf(job, connection)
  const inFlight = createQueue<{ kind: MixKind; message: Message }>()
  const open = createRing<Message>(MAX_OPEN)
  let made = 0

  const newMessage = (user: number): Message => {
    made += 1
    return { user, id: `${prefix}${connection}-${made}` }
  }
  const earlierMessage = (kind: MixKind): Message | undefined => {
    if (kind === 'commit' || kind === 'release') return open.takeOldest()
    return kind === 'repeat' || kind === 'find' ? open.at(below(open.length())) : undefined
  }
  const pick = (): { kind: MixKind; message: Message } => {
    const kind = kinds[below(100)] ?? 'reserve'
    if (kind === 'denied') return { kind, message: newMessage(firstUser + users + below(deniedUsers)) }
    const earlier = earlierMessage(kind)
    if (earlier !== undefined) return { kind, message: earlier }
    return { kind: kind === 'check' ? kind : 'reserve', message: newMessage(firstUser + below(users)) }
  }

  return {
    next() {
      const call = pick()
      inFlight.push(call)
      const { kind, message } = call
      const { user, id } = message
      if (kind === 'find') return `GET ${SENDER_PATH}/reservations/${user}/${id} HTTP/1.1\r\n${headers}\r\n`
      return post(`${SENDER_PATH}/${PATHS[kind]}`, bodyOf(kind, message))
    },
    take(status, bytes, start, end) {
      const call = inFlight.shift()
      if (call === undefined || status !== 200) return 1
      const { kind, message } = call
      if (kind === 'commit' || kind === 'release' || kind === 'find') return 0
      const isGranted = grantsIn(bytes, { start, end, max: 1 }) === 1
      if (kind === 'reserve' && isGranted) open.push(message)
      return isGranted === (kind !== 'denied') ? 0 : 1
    },
  }
}

function bodyOf(kind: MixKind, { user, id }: Message): string {
  if (kind === 'check') return `{"user_id":${user},"units":1}`
  const units = kind === 'commit' || kind === 'release' ? '' : ',"units":1'
  return `{"user_id":${user},"id":"${id}"${units}}`
}

/** Keeps the newest `capacity` items. */
function createRing<T>(capacity: number) {
  const items: T[] = []
  let oldest = 0
  let length = 0
  return {
    push(item: T) {
      items[(oldest + length) % capacity] = item
      if (length === capacity) oldest = (oldest + 1) % capacity
      else length += 1
    },
    takeOldest(): T | undefined {
      if (length === 0) return undefined
      const item = items[oldest]
      oldest = (oldest + 1) % capacity
      length -= 1
      return item
    },
    /** The item after `index` older ones. */
    at: (index: number): T | undefined => (index < length ? items[(oldest + index) % capacity] : undefined),
    length: () => length,
  }
}
