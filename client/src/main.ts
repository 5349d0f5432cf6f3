/** What the package offers. */
export type * from './api.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { Debt, Journal, OnUnavailable } from './debt.ts'
export { type ErrorCode, JournalFull, QuotaError, UnavailableError } from './errors.ts'
export type { Lease, LeaseInput } from './lease.ts'
export { type ReservationOptions, type Sent, UnknownIfSent } from './reservation.ts'
export type { CallOptions } from './transport.ts'
export { InvalidSignature, type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhooks.ts'
