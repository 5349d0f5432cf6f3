import {
  MAX_HITS,
  type QuotaHit,
  type ReservationHit,
  type SearchResult,
  type WebhookHit,
} from '../../contract/search.ts'
import type { Database } from '../../db/connection/database.ts'
import { plansBeginningWith } from '../../db/plans/plans.ts'
import { search } from '../../db/users/search.ts'
import { listWebhooks } from '../../db/webhooks/webhooks.ts'
import { type Quota, roll, statusOf } from '../../domain/quotas/quota.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { type Reservation, stateOf } from '../../domain/units/reservation.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import { entryViewOf } from '../users/responses.ts'

export async function resultOf(db: Database, text: string, now: EpochMs): Promise<SearchResult> {
  const found = await search(db, text, MAX_HITS + 1, now)
  // There are few webhooks, so they are searched here, by any part of their address.
  const matching = (await listWebhooks(db)).filter(webhook => matches(webhook, text.toLowerCase()))
  const plans = await plansBeginningWith(db, text, MAX_HITS + 1)
  const { users, quotas, reservations } = found
  return {
    users: first(users).map(entryViewOf),
    quotas: first(quotas).map(quota => quotaHitOf(quota, now)),
    reservations: first(reservations).map(reservationHitOf),
    webhooks: first(matching).map(webhookHitOf),
    plans: first(plans),
    has_more: {
      users: isMore(users),
      quotas: isMore(quotas),
      reservations: isMore(reservations),
      webhooks: isMore(matching),
      plans: isMore(plans),
    },
  }
}

const first = <Hit>(hits: readonly Hit[]) => hits.slice(0, MAX_HITS)
const isMore = (hits: readonly unknown[]) => hits.length > MAX_HITS

function matches({ id, url, addresses, description }: Webhook, text: string): boolean {
  const fields = [url ?? '', description ?? '', ...(addresses ?? [])]
  return String(id).startsWith(text) || fields.some(field => field.toLowerCase().includes(text))
}

function quotaHitOf(quota: Quota, now: EpochMs): QuotaHit {
  const { id, user_id, kind, name, external_ref } = quota
  return { id, user_id, kind, name, external_ref, status: statusOf(roll(quota, now).quota, now) }
}

function reservationHitOf(reservation: Reservation): ReservationHit {
  const { id, user_id, units, created_at } = reservation
  return { id, user_id, state: stateOf(reservation), units, created_at: formatTimestamp(created_at) }
}

function webhookHitOf({ id, kind, url, addresses, description, enabled }: Webhook): WebhookHit {
  return { id, kind, url, addresses, description, enabled }
}
