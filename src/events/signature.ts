/** Standard Webhooks: how a receiver knows that a delivery is ours and is what we sent. */
import { createHmac, randomBytes } from 'node:crypto'
import type { EpochMs } from '../domain/time.ts'
import type { Webhook } from '../domain/webhook.ts'

export function newSecret(): Uint8Array {
  return randomBytes(32)
}

/** A secret as its receiver is told it, once. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`
}

type Signed = Pick<Webhook, 'secret' | 'previous_secret' | 'previous_until'>

/** The headers of a message. While a rotation lasts, both secrets sign. */
export function signatureHeaders(webhook: Signed, id: string, body: string, now: EpochMs): Record<string, string> {
  const timestamp = Math.floor(now / 1_000)
  const isOverlapping = webhook.previous_until !== null && now < webhook.previous_until
  const secrets = [webhook.secret, ...(isOverlapping && webhook.previous_secret ? [webhook.previous_secret] : [])]
  const signatures = secrets.map(
    secret => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
