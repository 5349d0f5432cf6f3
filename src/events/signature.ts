/** Signatures by Standard Webhooks: with them a receiver verifies the sender and the content of a delivery. */
import { createHmac, randomBytes } from 'node:crypto'
import type { SigningWebhook } from '../db/webhooks/secrets.ts'
import type { EpochMs } from '../domain/time/time.ts'

export function newSecret(): Uint8Array {
  return randomBytes(32)
}

/** The text of a secret, which the API shows once. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`
}

type Signed = Pick<SigningWebhook, 'secrets' | 'previous_until'>

/** The headers of a message. During a rotation both secrets sign it. */
export function signatureHeaders(
  { secrets: { secret, previous_secret }, previous_until }: Signed,
  id: string,
  body: string,
  now: EpochMs,
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000)
  const isOverlapping = previous_until !== null && now < previous_until
  const secrets = [secret, ...(isOverlapping && previous_secret ? [previous_secret] : [])]
  const signatures = secrets.map(
    key => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
