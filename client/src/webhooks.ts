/** Verifies deliveries of webhooks (Standard Webhooks), in a receiver. */
import type { Event } from './api.ts'
import { toCamel } from './names.ts'

export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature'
}

/** What a delivery says: an event of the feed, whose user and number are within `data`; or the test of a webhook. */
export type WebhookEvent =
  | DeliveryOf<Event>
  | { readonly type: 'webhook.test'; readonly timestamp: string; readonly data: WebhookTest }

interface WebhookTest {
  readonly webhook: { readonly id: number; readonly description: string | null }
}

type DeliveryOf<E> = E extends Event
  ? {
      readonly type: E['type']
      readonly timestamp: string
      readonly data: E['data'] & Omit<E, 'id' | 'type' | 'at' | 'data'>
    }
  : never

export interface VerifyOptions {
  /** How much older or newer than now a delivery may be; 300 s if left out. */
  toleranceSeconds?: number
  /** Milliseconds since 1970; the machine's clock if left out. */
  now?: number
}

type Headers = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The event of a delivery, if its signature is right. Pass the body as it arrived: text that was parsed and printed again has
 * another signature.
 *
 * @param secrets the webhook's `whsec_…`; during a rotation the new one and the one before
 * @throws InvalidSignature
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name =>
    header(headers, name),
  )
  if (!id || !timestamp || !signatures)
    throw new InvalidSignature('a header is missing: webhook-id, -timestamp or -signature')
  if (!/^\d+$/.test(timestamp)) throw new InvalidSignature('webhook-timestamp is not a number of seconds')
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new InvalidSignature(`the delivery is of another time than now, by more than ${toleranceSeconds} s`)
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const given = signatures.split(' ').flatMap(signature => {
    const [version, value] = signature.split(',')
    return version === 'v1' && value !== undefined ? [bytesOf(value)] : []
  })
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), ALGORITHM, false, [
      'verify',
    ])
    for (const signature of given) {
      // Takes the same time for each signature.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return toCamel(JSON.parse(text)) as WebhookEvent
    }
  }
  throw new InvalidSignature('no signature of the delivery is made with the secret')
}

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }

function header(headers: Headers, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** @throws InvalidSignature if it is not base64 */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch (cause) {
    throw new InvalidSignature('a secret or a signature is not base64', { cause })
  }
}
