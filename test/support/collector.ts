/** A collector of traces (OTLP over HTTP) on a free port. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { whenDone } from './cleanup.ts'

/** Call this where tests are declared. `exports` has what arrived, as it was parsed. */
export async function createCollector<Export>(): Promise<{ endpoint: string; exports: Export[] }> {
  const exports: Export[] = []
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/traces') exports.push((await json(request)) as Export)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  whenDone(() => {
    server.closeAllConnections()
    server.close()
  })
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exports }
}
