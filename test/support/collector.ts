import { json } from 'node:stream/consumers'
import { serve } from './listening.ts'

/** Call this where tests are declared. `exports` has what arrived, as it was parsed. */
export async function createCollector<Export>(): Promise<{ endpoint: string; exports: Export[] }> {
  const exports: Export[] = []
  const endpoint = await serve(async (request, response) => {
    if (request.url === '/v1/traces') exports.push((await json(request)) as Export)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return { endpoint, exports }
}
