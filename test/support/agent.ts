/** Calls of an agent, and an agent as a process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Client } from '../../client/src/main.ts'
import { PROJECT } from './paths.ts'

export const SENDER_PATHS = '/api/sms/sender/quota'

export interface Answer {
  status: number
  retryAfter: string | null
  type: string | null
  body: ReturnType<typeof JSON.parse>
}

/** @param path with a leading slash, or the name of a sender's operation */
export async function post(
  base: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(`${base}${path.startsWith('/') ? path : `${SENDER_PATHS}/${path}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const { status, headers: own } = answer
  return { status, retryAfter: own.get('retry-after'), type: own.get('content-type'), body: await answer.json() }
}

export const NAMINGS = ['user_id', 'user_ref'] as const

/** How calls of senders name a user; by reference, the user gets one. */
export async function nameOf(
  admin: Pick<Client, 'updateProfile'>,
  userId: number,
  naming: (typeof NAMINGS)[number],
): Promise<object> {
  if (naming === 'user_id') return { user_id: userId }
  const ref = `customer-${userId}`
  await admin.updateProfile({ userId, ref })
  return { user_ref: ref }
}

/** An agent as a process, and where it listens. */
export async function spawnAgent(
  url: string,
  token: string,
  words: readonly string[],
  more: NodeJS.Dict<string> = {},
): Promise<[ChildProcessByStdio<null, Readable, Readable>, string]> {
  const all = ['agent', '--listen', '127.0.0.1:0', '--url', url, ...words]
  const env = { ...process.env, ...more, SMS_QUOTA_TOKEN: token }
  const child = spawn(`${PROJECT}/bin/sms-quota`, all, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [line] = await once(child.stdout, 'data')
  return [child, / at (\S+), /.exec(String(line))?.[1] ?? '']
}
