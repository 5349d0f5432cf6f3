/**
 * The largest read of each route of people, by its operation: what a caller can ask for that costs the most.
 * test/http/reads.test.ts compares the operations with the server's.
 */
import { MAX_PAGE_SIZE, MAX_USAGE_INTERVALS } from '../src/domain/basics/bounds.ts'
import { DAY_MS, type EpochMs } from '../src/domain/time/time.ts'

/** What the paths name. */
export interface ReadSubjects {
  now: EpochMs
  /** Has the most of everything. */
  user: number
  quota: number
  plan: number
  rateCard: number
  webhook: number
  delivery: string
  denial: string
  reservation: string
  pause: number
  transfer: number
}

const PAGE = `page_size=${MAX_PAGE_SIZE}`
const QUARTER_MS = 900_000

/** The path and query of each operation below `/api/sms`. */
export function largestReads(of: ReadSubjects): Readonly<Record<string, string>> {
  const iso = (at: EpochMs) => new Date(at).toISOString()
  const to = Math.ceil(of.now / QUARTER_MS) * QUARTER_MS
  const days = (count: number) => `from=${iso(to - count * DAY_MS)}&to=${iso(to)}`
  // With the ten values of the group, the most rows that are answered.
  const report = `${days(MAX_USAGE_INTERVALS - 50)}&interval=day&time_zone=UTC`
  return {
    listMyQuotas: `/quota/list?${PAGE}`,
    summarizeMyQuotas: '/quota/summary',
    reportMyUsage: `/quota/usage?${report}&group_by=country`,
    listMyReservations: `/quota/reservations?${PAGE}&state=expired`,
    getMyReservation: `/quota/reservations/${of.reservation}`,
    listMyDenials: `/quota/denials?${PAGE}`,
    getMyDenial: `/quota/denials/${of.denial}`,
    listMyIncreaseRequests: `/quota/requests?${PAGE}`,
    getNotifications: '/quota/notifications',
    listQuotas: `/admin/quota/list?${PAGE}&sort=expires_at`,
    summarizeQuotasOfUser: `/admin/quota/summary?user_id=${of.user}`,
    getQuota: `/admin/quota/${of.quota}`,
    listAlerts: '/admin/quota/alerts?limit=100&below_percent=50',
    listChangesOfQuota: `/admin/quota/${of.quota}/history?${PAGE}`,
    listWindowsOfQuota: `/admin/quota/${of.quota}/windows?${PAGE}`,
    listReservations: `/admin/quota/reservations?user_id=${of.user}&${PAGE}&state=expired`,
    getReservationOfUser: `/admin/quota/reservations/${of.user}/${of.reservation}`,
    reportUsage: `/admin/quota/usage?user_id=${of.user}&${report}&group_by=country`,
    listTopUsers: `/admin/quota/usage/top?${days(366)}&limit=100&country=DE`,
    listTransfers: `/admin/transfers?${PAGE}`,
    getTransfer: `/admin/transfers/${of.transfer}`,
    listUsers: `/admin/users?${PAGE}`,
    getUser: `/admin/users/${of.user}`,
    getProfile: `/admin/users/${of.user}/profile`,
    getPlanOfUser: `/admin/users/${of.user}/plan`,
    exportUser: `/admin/users/${of.user}/data`,
    getErasure: `/admin/users/${of.user}/data/erasure`,
    listCustomers: `/admin/customers?${PAGE}&view=at_risk`,
    listPlans: `/admin/plans?${PAGE}`,
    getPlan: `/admin/plans/${of.plan}`,
    listRateCards: `/admin/rate-cards?${PAGE}`,
    getRateCard: `/admin/rate-cards/${of.rateCard}`,
    listRateLines: `/admin/rate-cards/${of.rateCard}/lines?${PAGE}`,
    listIncreaseRequests: `/admin/requests?${PAGE}`,
    listPauses: `/admin/pauses?${PAGE}`,
    getPause: `/admin/pauses/${of.pause}`,
    replayBreaker: `/admin/breaker/replay?${PAGE}&days=14`,
    getBreaker: '/admin/breaker',
    exportQuotas: '/admin/export/quotas',
    exportUsage: '/admin/export/usage',
    exportDenials: '/admin/export/denials',
    exportLedger: '/admin/export/ledger',
    exportAudit: '/admin/export/audit',
    exportCustomers: '/admin/export/customers',
    search: '/admin/search?q=1',
    listDenials: `/admin/denials?${PAGE}`,
    countDenialsByRule: '/admin/denials/rules',
    getDenial: `/admin/denials/${of.denial}`,
    listEvents: `/admin/events?limit=${MAX_PAGE_SIZE}`,
    listAudit: `/admin/audit?${PAGE}`,
    readOverview: '/admin/overview?time_zone=Europe/Berlin',
    listNames: `/admin/names?${Array.from({ length: 100 }, (_, n) => `subject=${n}`).join('&')}`,
    listWebhooks: '/admin/webhooks',
    getWebhook: `/admin/webhooks/${of.webhook}`,
    listWebhookDeliveries: `/admin/webhooks/${of.webhook}/deliveries?limit=${MAX_PAGE_SIZE}`,
    getWebhookDelivery: `/admin/webhooks/${of.webhook}/deliveries/${of.delivery}`,
    whoAmI: '/me',
  }
}
