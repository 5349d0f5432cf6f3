/** Every bound and default of the contract, in one place. */

/** The largest integer that JSON readers agree on; ids and counts end here. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** The most units a limit can name. */
export const MAX_UNITS = 1_000_000_000_000

/** Undeleted, unexpired quotas a user can have. */
export const MAX_QUOTAS_PER_USER = 200

/** The most units that one reservation can hold, a long campaign's. */
export const MAX_RESERVED_UNITS = 1_000_000_000

/** A phone number as senders write it. */
export const E164_PATTERN = '^\\+[1-9][0-9]{1,14}$'

/** How long a reservation stays open. */
export const DEFAULT_TTL_SECONDS = 600
export const MAX_TTL_SECONDS = 7 * 86_400

/** Operations in a batch of a sender. */
export const MAX_BATCH_OPERATIONS = 1_000

export const MAX_PAGE_SIZE = 200
export const DEFAULT_PAGE_SIZE = 20

/** Intervals of a report of usage: forty days of hours, nearly three years of days. */
export const MAX_USAGE_INTERVALS = 1_000
export const MAX_USAGE_ROWS = 10_000

/** The longest period over which all users are compared. */
export const MAX_TOP_USERS_DAYS = 366

/** Quotas about to run out that are shown at once. */
export const MAX_ALERTS = 100

/** What a quota is when its draft does not say. `starts_at` defaults to now. */
export const QUOTA_DEFAULTS = {
  kind: 'grant',
  name: null,
  period: null,
  time_zone: 'UTC',
  rollover_limit: 0,
  overage_limit: 0,
  priority: 100,
  expires_at: null,
  countries: null,
  message_types: null,
  alert_at: [80, 100],
  enabled: true,
  external_ref: null,
  metadata: {},
} as const
