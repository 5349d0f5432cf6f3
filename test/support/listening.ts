/** Servers that tests make for what the service, or a program, calls. */
import { once } from 'node:events'
import { createServer, Server as HttpServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { whenDone } from './cleanup.ts'

/** Has a server listen on a free port. It ends, with its connections, when the test or the file that calls this does. @returns its URL */
export async function urlOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    server.close()
    if (server instanceof HttpServer) server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server of HTTP that answers in this way. @returns its URL */
export const serve = (answer: RequestListener) => urlOf(createServer(answer))
