/** Runs the hook with Node.js. The provider is any that takes `{ to, text }` as JSON: change `send` for yours. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, UnknownIfSent } from 'sms-quota-client'
import { createHook } from './hook.ts'

const { PORT = '9999', HOOK_SECRET = '', PROVIDER_URL = '', SMS_QUOTA_URL = 'http://127.0.0.1:8080' } = process.env
/** Supabase waits five seconds for the hook. */
const PROVIDER_TIMEOUT_MS = 2_500
/** Supabase's requests are some 2 KB. */
const MAX_BODY_BYTES = 200_000

const hook = createHook({
  quota: createClient({ url: SMS_QUOTA_URL, token: process.env.SMS_QUOTA_TOKEN ?? '', senderTimeoutMs: 1_000 }),
  secret: HOOK_SECRET,
  defaultUserId: Number(process.env.SMS_QUOTA_USER),
  send,
})

async function send(to: string, text: string): Promise<void> {
  const answer = await fetch(PROVIDER_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, text }),
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
  }).catch(cause => {
    throw new UnknownIfSent('the provider did not answer', { cause })
  })
  if (!answer.ok) throw new Error(`the provider refused the message: ${answer.status}`)
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
      response.writeHead(413, { connection: 'close' }).end()
      return
    }
    chunks.push(chunk)
  }
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
  const answer = await hook(new Request('http://hook/', { method: 'POST', headers, body: Buffer.concat(chunks) }))
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`the hook is at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
