/**
 * Supabase Auth's "Send SMS" hook: it reserves and commits the units of a code to sign in, and sends it. It uses only what
 * Node.js, Deno and edge functions have in common. README.md says how to run it.
 */
import { type Client, InvalidSignature, QuotaError, UnavailableError, verifyWebhook } from 'sms-quota-client'

export interface HookOptions {
  quota: Pick<Client, 'withReservation'>
  /** As Supabase shows it: `v1,whsec_…`. */
  secret: string
  /** Whose quotas pay for users without a `sms_quota_user_id` of their own. */
  defaultUserId: number
  /** Sends a text to a number with a plus sign. It throws UnknownIfSent if the provider may have taken the message. */
  send(to: string, text: string): Promise<void>
}

/** What the hook uses of Supabase's request. */
interface HookInput {
  user: { phone?: string; app_metadata?: { sms_quota_user_id?: number } }
  /** `phone` is where the code goes. Older versions leave it out. */
  sms: { otp: string; phone?: string }
}

/** Makes the function that answers Supabase's requests. */
export function createHook(options: HookOptions): (request: Request) => Promise<Response> {
  return async request => {
    const body = await request.text()
    try {
      await verifyWebhook(body, request.headers, options.secret.replace(/^v1,/, ''))
    } catch (error) {
      if (!(error instanceof InvalidSignature)) throw error
      return Response.json({ error: { http_code: 401, message: error.message } }, { status: 401 })
    }
    const problem = await sendCode(options, body)
    // Supabase shows users only what comes with status 200. Any other status is "unexpected" to them.
    return Response.json(problem === null ? {} : { error: problem })
  }
}

interface HookError {
  http_code: number
  message: string
}

/** @returns null if the code was sent, or may have been */
async function sendCode({ quota, defaultUserId, send }: HookOptions, body: string): Promise<HookError | null> {
  try {
    const { user, sms }: HookInput = JSON.parse(body)
    const to = `+${sms.phone ?? user.phone}`
    const text = `Your code is ${sms.otp}`
    const sent = await quota.withReservation(
      {
        userId: user.app_metadata?.sms_quota_user_id ?? defaultUserId,
        id: await idOf(body),
        message: { to, text },
        messageType: 'otp',
      },
      () => send(to, text),
      // Supabase has asked before, and did not wait for the answer. Units that are not committed are of a send that has not begun.
      { onRepeated: 'send' },
    )
    if (sent.granted) return null
    const when = sent.retryAt === null ? 'later' : `after ${sent.retryAt}`
    return { http_code: 429, message: `No code was sent: too many messages. Try again ${when}.` }
  } catch (error) {
    if (error instanceof QuotaError && error.code === 'invalid_request') {
      return { http_code: 400, message: 'No code was sent: this is not a phone number.' }
    }
    if (!(error instanceof UnavailableError)) console.error(`no code was sent: ${error}`)
    return { http_code: 503, message: 'No code was sent. Try again later.' }
  }
}

/** Supabase repeats a request with the same body and another `webhook-id`. Each code has a body of its own. */
async function idOf(body: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}
