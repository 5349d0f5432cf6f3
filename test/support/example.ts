/** Runs an example as its README says: in a folder of its own, with the client package installed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { whenDone } from './cleanup.ts'
import { installClient } from './client-package.ts'
import { serve } from './listening.ts'
import { PROJECT } from './paths.ts'

/**
 * Starts a program of an example; it ends after the tests. Call this where tests are declared: in a hook, nothing would end it.
 *
 * @param packages what the README installs beside the client; the project's own are taken
 * @returns the first line that it prints
 */
export async function startExample(
  name: string,
  program: string,
  env: Record<string, string>,
  packages: string[] = [],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-example-'))
  await cp(join(PROJECT, 'examples', name), folder, { recursive: true })
  await installClient(folder)
  for (const name of packages) await symlink(join(PROJECT, 'node_modules', name), join(folder, 'node_modules', name))
  const child = spawn(join(PROJECT, 'bin/node'), [program], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  whenDone(async () => {
    child.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`${program} ended without a line`)
}

/** The way to a service, which carries calls out and loses as many of their answers as `losses` says. */
export async function startGate(service: string): Promise<{ readonly url: string; losses: number }> {
  const url = await serve(async (request, response) => {
    const headers = { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' }
    const body = Buffer.concat(await request.toArray())
    const answer = await fetch(service + request.url, { method: 'POST', headers, body })
    const text = await answer.text()
    if (gate.losses > 0) {
      gate.losses -= 1
      response.destroy()
    } else response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
  })
  const gate = { url, losses: 0 }
  return gate
}
