/** The requests of the load generator: each operation reserves one unit for a random user. */
import type { Job } from './job.ts'

/** Returns a function that serializes the next request on each call. */
export function requestMaker({ url, token, users, operations, prefix }: Job): () => string {
  const { host } = new URL(url)
  const path = `/api/sms/sender/quota/${operations === 1 ? 'reserve' : 'batch'}`
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `
  const random = seededRandom()
  let made = 0
  const fields = () => {
    made += 1
    return `"user_id":${1 + Math.floor(random() * users)},"id":"${prefix}${made}","units":1`
  }
  const single = () => `{${fields()}}`
  const batch = () => {
    let list = ''
    for (let n = 0; n < operations; n++) list += `${n === 0 ? '' : ','}{"op":"reserve",${fields()}}`
    return `{"operations":[${list}]}`
  }
  const body = operations === 1 ? single : batch
  return () => {
    const text = body()
    return `${head}${text.length}\r\n\r\n${text}`
  }
}

/** Uniform random numbers from 0 to 1, the same in every run (xorshift). */
function seededRandom(): () => number {
  let state = 0x9e3779b9
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
