import type { Static, TObject } from 'typebox'
import type { AuditQuery } from '../../../src/contract/audit.ts'
import type { ReplayQuery } from '../../../src/contract/breaker.ts'
import type { BulkQuery } from '../../../src/contract/bulk.ts'
import type { CustomersQuery } from '../../../src/contract/customers.ts'
import type { AdminDenialsQuery, UserDenialsQuery } from '../../../src/contract/denials.ts'
import type { EventsQuery } from '../../../src/contract/events.ts'
import type * as exports from '../../../src/contract/exports.ts'
import type { GiveQuery } from '../../../src/contract/give.ts'
import type { ImportQuery } from '../../../src/contract/import.ts'
import type { IncreaseRequestsQuery, MyIncreaseRequestsQuery } from '../../../src/contract/increase-requests.ts'
import type { NamesQuery } from '../../../src/contract/names.ts'
import type { OverviewQuery } from '../../../src/contract/overview.ts'
import type { PausesQuery } from '../../../src/contract/pauses.ts'
import type { PlansQuery } from '../../../src/contract/plans.ts'
import type { HistoryQuery } from '../../../src/contract/quota-history.ts'
import type { SummaryQuery } from '../../../src/contract/quota-summary.ts'
import type { AdminListQuery, UserListQuery } from '../../../src/contract/quotas.ts'
import type { RateCardsQuery, RateLinesQuery, SetLinesQuery } from '../../../src/contract/rate-cards.ts'
import type { AdminReservationsQuery, UserReservationsQuery } from '../../../src/contract/reservations.ts'
import type { SearchQuery } from '../../../src/contract/search.ts'
import type { TransfersQuery } from '../../../src/contract/transfers.ts'
import type { AdminUsageQuery, TopUsersQuery, UserUsageQuery } from '../../../src/contract/usage.ts'
import type { DeliveriesQuery } from '../../../src/contract/webhooks.ts'
import type { Api } from './types.ts'

/** The operations of the API that the console calls, by method and path below `/api/sms`. */

/** What an operation takes and answers. */
interface Shape<Answer, Query extends TObject | null, Body> {
  answer: Answer
  query: Query
  body: Body
}

type Name = keyof Api
type Typed<Body extends Name | null> = Body extends Name ? AsTyped<Api[Body]> : null
type Reads<Answer extends Name, Query extends TObject | null = null> = Shape<Api[Answer], Query, null>
type Changes<Answer extends Name | null, Body extends Name | null = null> = Shape<
  Answer extends Name ? Api[Answer] : undefined,
  null,
  Typed<Body>
>
/** A change that a query specifies. */
type ChangesBy<Answer extends Name, Query extends TObject, Body extends Name> = Shape<Api[Answer], Query, Typed<Body>>
/** It answers records, one a line. */
interface Streams<Answer extends Name, Query extends TObject | null, Body extends Name | null = null>
  extends Shape<Api[Answer], Query, Typed<Body>> {
  lines: true
}

interface Operations {
  'GET /me': Reads<'Caller'>
  'GET /quota/list': Reads<'QuotaPage', typeof UserListQuery>
  'GET /quota/summary': Reads<'QuotaSummary'>
  'GET /quota/usage': Reads<'Usage', typeof UserUsageQuery>
  'GET /quota/reservations': Reads<'ReservationPage', typeof UserReservationsQuery>
  'GET /quota/reservations/{id}': Reads<'ReservationDetail'>
  'GET /quota/denials': Reads<'DenialPage', typeof UserDenialsQuery>
  'GET /quota/denials/{denial_id}': Reads<'DenialDetail'>
  'GET /quota/requests': Reads<'IncreaseRequestPage', typeof MyIncreaseRequestsQuery>
  'POST /quota/requests': Changes<'IncreaseRequest', 'IncreaseReq'>
  'DELETE /quota/requests/{id}': Changes<null>
  'GET /quota/notifications': Reads<'Notifications'>
  'PUT /quota/notifications': Changes<'Notifications', 'NotificationsReq'>
  'DELETE /quota/notifications': Changes<null>
  'POST /quota/notifications/confirm': Changes<null, 'NotificationCodeReq'>
  'POST /quota/notifications/stop': Changes<null, 'NotificationCodeReq'>
  'GET /admin/quota/list': Reads<'QuotaPage', typeof AdminListQuery>
  'GET /admin/quota/summary': Reads<'QuotaSummary', typeof SummaryQuery>
  'GET /admin/quota/usage': Reads<'Usage', typeof AdminUsageQuery>
  'GET /admin/quota/usage/top': Reads<'TopUsers', typeof TopUsersQuery>
  'GET /admin/quota/reservations': Reads<'ReservationPage', typeof AdminReservationsQuery>
  'GET /admin/quota/reservations/{user_id}/{id}': Reads<'AuthoredRecord'>
  'POST /admin/quota': Changes<'SmsQuota', 'CreateQuotaReq'>
  'GET /admin/quota/{id}': Reads<'SmsQuota'>
  'PUT /admin/quota/{id}': Changes<'SmsQuota', 'UpdateQuotaReq'>
  'DELETE /admin/quota/{id}': Changes<null>
  'POST /admin/quota/{id}/adjust': Changes<'SmsQuota', 'AdjustReq'>
  'POST /admin/quota/{id}/transfer': Changes<'TransferAnswer', 'TransferReq'>
  'GET /admin/quota/{id}/history': Reads<'QuotaHistory', typeof HistoryQuery>
  'GET /admin/quota/{id}/windows': Reads<'QuotaWindowPage', typeof HistoryQuery>
  'POST /admin/quota/check': Changes<'Grantable' | 'Denied', 'CheckReq'>
  'POST /admin/quota/import': Streams<'ImportRecord', typeof ImportQuery>
  'POST /admin/quota/bulk': Streams<'BulkRecord', typeof BulkQuery, 'BulkReq'>
  'POST /admin/quota/give': Streams<'GiveRecord', typeof GiveQuery, 'GiveReq'>
  'GET /admin/transfers': Reads<'TransferPage', typeof TransfersQuery>
  'POST /admin/transfers/{id}/return': Changes<'TransferAnswer', 'ReturnReq'>
  'GET /admin/users/{user_id}': Reads<'User'>
  'GET /admin/users/{user_id}/profile': Reads<'UserProfile'>
  'PUT /admin/users/{user_id}/profile': Changes<'UserProfile', 'ProfileReq'>
  'GET /admin/users/{user_id}/plan': Reads<'UserPlan'>
  'PUT /admin/users/{user_id}/plan': Changes<'UserPlan', 'GivePlanReq'>
  'DELETE /admin/users/{user_id}/plan': Changes<null>
  'GET /admin/customers': Reads<'CustomerPage', typeof CustomersQuery>
  'GET /admin/plans': Reads<'PlanPage', typeof PlansQuery>
  'POST /admin/plans': Changes<'Plan', 'CreatePlanReq'>
  'GET /admin/plans/{id}': Reads<'PlanDetail'>
  'PUT /admin/plans/{id}': Changes<'Plan', 'UpdatePlanReq'>
  'DELETE /admin/plans/{id}': Changes<null>
  'POST /admin/plans/{id}/roll-out': Streams<'RollOutRecord', null, 'RollOutReq'>
  'GET /admin/rate-cards': Reads<'RateCardPage', typeof RateCardsQuery>
  'POST /admin/rate-cards': Changes<'RateCard', 'CreateRateCardReq'>
  'GET /admin/rate-cards/{id}': Reads<'RateCardDetail'>
  'PUT /admin/rate-cards/{id}': Changes<'RateCard', 'UpdateRateCardReq'>
  'DELETE /admin/rate-cards/{id}': Changes<null>
  'GET /admin/rate-cards/{id}/lines': Reads<'RateLinePage', typeof RateLinesQuery>
  'PUT /admin/rate-cards/{id}/lines': ChangesBy<'RateLinesSet', typeof SetLinesQuery, 'RateLinesReq'>
  'GET /admin/requests': Reads<'IncreaseRequestPage', typeof IncreaseRequestsQuery>
  'POST /admin/requests': Changes<'IncreaseRequest', 'IncreaseForUserReq'>
  'POST /admin/requests/{id}/approve': Changes<'IncreaseRequest', 'ApproveReq'>
  'POST /admin/requests/{id}/decline': Changes<'IncreaseRequest', 'DeclineReq'>
  'GET /admin/pauses': Reads<'PausePage', typeof PausesQuery>
  'POST /admin/pauses': Changes<'Pause', 'PauseReq'>
  'DELETE /admin/pauses/{id}': Changes<null>
  'GET /admin/breaker': Reads<'Breaker'>
  'PUT /admin/breaker': Changes<'Breaker', 'BreakerReq'>
  'GET /admin/breaker/replay': Reads<'ReplayPage', typeof ReplayQuery>
  'GET /admin/export/quotas': Streams<'SmsQuota', typeof exports.ExportQuotasQuery>
  'GET /admin/export/denials': Streams<'DenialRecord', typeof exports.ExportDenialsQuery>
  'GET /admin/export/ledger': Streams<'ReservationRecord', typeof exports.ExportLedgerQuery>
  'GET /admin/export/audit': Streams<'AuditEntry', typeof exports.ExportAuditQuery>
  'GET /admin/export/customers': Streams<'Customer', typeof exports.ExportCustomersQuery>
  'GET /admin/search': Reads<'SearchResult', typeof SearchQuery>
  'GET /admin/denials': Reads<'DenialPage', typeof AdminDenialsQuery>
  'GET /admin/denials/rules': Reads<'RuleDenials'>
  'GET /admin/denials/{denial_id}': Reads<'DenialDetail'>
  'GET /admin/events': Reads<'EventPage', typeof EventsQuery>
  'GET /admin/audit': Reads<'AuditPage', typeof AuditQuery>
  'GET /admin/overview': Reads<'Overview', typeof OverviewQuery>
  'GET /admin/names': Reads<'PrincipalNames', typeof NamesQuery>
  'GET /admin/webhooks': Reads<'WebhookList'>
  'POST /admin/webhooks': Changes<'WebhookWithSecret', 'CreateWebhookReq'>
  'GET /admin/webhooks/{id}': Reads<'Webhook'>
  'PUT /admin/webhooks/{id}': Changes<'Webhook', 'UpdateWebhookReq'>
  'DELETE /admin/webhooks/{id}': Changes<null>
  'POST /admin/webhooks/{id}/rotate-secret': Changes<'WebhookWithSecret'>
  'POST /admin/webhooks/{id}/test': Changes<'WebhookAttempt'>
  'GET /admin/webhooks/{id}/deliveries': Reads<'WebhookDeliveryPage', typeof DeliveriesQuery>
  'GET /admin/webhooks/{id}/deliveries/{delivery}': Reads<'WebhookDeliveryDetail'>
  'POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver': Changes<'Redelivered'>
  'POST /admin/webhooks/{id}/redeliver': Changes<'Redelivered', 'RedeliverReq'>
}

export type Operation = keyof Operations
/** Those that answer records, one a line. */
export type Stream = { [O in Operation]: Operations[O] extends { lines: true } ? O : never }[Operation]
/** Those that answer one value. */
export type Call = Exclude<Operation, Stream>
export type Read = Extract<Call, `GET ${string}`>
export type Change = Exclude<Operation, `GET ${string}`>

export type Answer<O extends Operation> = Operations[O]['answer']

/**
 * What a form sends: a number may be the text that was typed and a field may be left out, of which the service says what is
 * wrong; a list may have members that only a newer service knows.
 */
type AsTyped<Value> = Value extends number
  ? Value | string
  : Value extends readonly string[]
    ? readonly string[]
    : Value extends object
      ? { readonly [Key in keyof Value]?: AsTyped<Value[Key]> }
      : Value

type Params<Path extends string> = Path extends `${string}{${infer Param}}${infer Rest}`
  ? { [Key in Param]: number | string } & Params<Rest>
  : unknown

/** Undefined and null are left out, and lists are repeated. */
type Given<Query> = {
  [Key in keyof Query]: AsTyped<Query[Key]> | (IsOptional<Query, Key> extends true ? null | undefined : never)
}
type IsOptional<Fields, Key extends keyof Fields> = Partial<Fields> extends Pick<Fields, Key> ? true : false
type QueryOf<Query> = Query extends TObject
  ? Partial<Static<Query>> extends Static<Query>
    ? { query?: Given<Static<Query>> | undefined }
    : { query: Given<Static<Query>> }
  : unknown

/** What may go with any call. */
export type Options = {
  /** The version that the change is based on. */
  ifMatch?: number
  /** Makes a POST safe to retry. */
  idempotencyKey?: string
  /** The same for the calls of one change, so that the history shows them as one. */
  requestId?: string
  signal?: AbortSignal
}

/** What a call of an operation needs: the parameters of its path, its query, its body. */
export type Input<O extends Operation> = Options &
  Params<O> &
  QueryOf<Operations[O]['query']> &
  (Operations[O]['body'] extends null ? unknown : { body: Operations[O]['body'] }) &
  (O extends 'POST /admin/quota/import' ? { lines: string } : unknown)
