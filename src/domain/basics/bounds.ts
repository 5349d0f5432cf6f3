/** Every bound and default of the API. */

/** The largest integer that all JSON parsers read exactly (2^53−1): the bound of ids and counts. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** Whether a value is an id or a count. */
export const isUint = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** The largest limit of a quota, in units. */
export const MAX_UNITS = 1_000_000_000_000

/** Undeleted, unexpired quotas per user. */
export const MAX_QUOTAS_PER_USER = 200

/** Of these, caps that count each value by itself: each is a counter to read and to write for each message. */
export const MAX_CAPS_PER_VALUE = 5

/** Plans that are not archived, quotas of one plan, and for how many days such a quota may be given. */
export const MAX_PLANS = 1_000
export const MAX_SLOTS = 20
export const MAX_LASTS_DAYS = 3_650

/** Rate cards that are not archived, and the lines of a list of prices. Each process has all lines in memory, some 150 bytes each. */
export const MAX_RATE_CARDS = 100
export const MAX_RATE_LINES = 20_000
/** Of a card, lists that are to come. */
export const MAX_RATE_LISTS_AHEAD = 3
/** Units that a line may charge, for each segment and for the message. */
export const MAX_RATE = 1_000_000
/** The beginning of a number in E.164 form. */
export const RATE_PREFIX_PATTERN = '^[1-9][0-9]{0,9}$'
/** How far ahead prices may be said. */
export const MAX_VALID_FROM_AHEAD_MS = 90 * 86_400_000

/** Pauses that are active at a time: each process has all of them in memory, some 300 bytes each. */
export const MAX_PAUSES = 10_000

/** Requests for more units that a user may have open, and may make in 24 hours: each is kept as long as the audit. */
export const MAX_OPEN_REQUESTS = 3
export const MAX_REQUESTS_PER_DAY = 10

/** Units of one reservation. */
export const MAX_RESERVED_UNITS = 1_000_000_000
/** A recipient beside units, or a tag. */
export const COUNTED_VALUE_PATTERN = '^[^\\x00-\\x1f\\x7f-\\x9f]{1,64}$'

/** Messages that one reservation or commit pays. Those of a batch must fit into 32 bits. */
export const MAX_COMMIT_MESSAGES = 1_000_000

/** SMS of one message: their headers number the parts in 8 bits. */
export const MAX_SEGMENTS = 255

/** A phone number in E.164 form. */
export const E164_PATTERN = '^\\+[1-9][0-9]{6,14}$'

/** A sender's own id of a message or campaign. */
export const RESERVATION_ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$'

/** How long a reservation stays open before it expires. */
export const DEFAULT_TTL_SECONDS = 600
export const MAX_TTL_SECONDS = 7 * 86_400

/** The age that a list of reservations may ask for: longer than any is kept. */
export const MAX_AGE_SECONDS = 1_000_000_000

/**
 * Reservations and denials that a page reads, at most, for those that its filters select. Rare ones among millions are found in several pages,
 * none of which keeps the database busy for long.
 */
export const MAX_SCANNED_RESERVATIONS = 20_000
export const MAX_SCANNED_DENIALS = 10_000

/** The latest denials for each reason by which the report of rules counts: two short reads of the log. */
export const MAX_RULE_DENIALS = 2_000

/** Quotas in the explanation of a logged denial, besides those that had ended. */
export const MAX_LOGGED_LINES = 20

/** Operations in one call of a sender's batch endpoint. */
export const MAX_BATCH_OPERATIONS = 1_000

/**
 * Issues that are listed of one operation of a batch, or one row of an import: an answer must not be many times as large as
 * its request.
 */
export const MAX_ITEM_ISSUES = 10

export const MAX_PAGE_SIZE = 200
export const DEFAULT_PAGE_SIZE = 20

/** Refused rows that the response to an import lists, and quotas that the response to a bulk change lists. */
export const MAX_LISTED_FAILURES = 1_000

/** Quotas or users that a bulk change names. */
export const MAX_BULK_IDS = 10_000

/** Quotas that the dry run of a bulk change shows. */
export const MAX_SAMPLES = 20

/** A duration of ISO 8601 in years, months, weeks and days. */
export const DURATION_PATTERN = '^P(?=[0-9])(?:[0-9]{1,3}Y)?(?:[0-9]{1,4}M)?(?:[0-9]{1,4}W)?(?:[0-9]{1,5}D)?$'

/** Intervals in a usage report: about 41 days by hour, 2.7 years by day. */
export const MAX_USAGE_INTERVALS = 1_000
export const MAX_USAGE_ROWS = 10_000

/** Stored rows that a report of all users by user or quota reads: some 100 ms. */
export const MAX_USAGE_READ = 100_000

/**
 * Usage is stored per quarter of an hour in UTC. Offsets of all current time zones are multiples of that, so an hour, a
 * day or a month of any zone is a sum of whole quarters.
 */
export const USAGE_BUCKET_MS = 900_000

/** How long usage is kept by the quarter of an hour, and then by the day, before it is compacted. */
export const USAGE_DETAIL_DAYS = 35
export const USAGE_DAYS_KEPT = 400

/** The longest period of a report of the top users. */
export const MAX_TOP_USERS_DAYS = 366

/** Scopes that a summary answers separately. */
export const MAX_SENDING_SCOPES = 50

/**
 * Steps of each computation of a summary that looks ahead, some 20 ms: a window of one cap is a step, and so is one change of the
 * grants for each that can pay. Ten caps by the hour, for a year, take 90,000.
 */
export const MAX_LOOKAHEAD_STEPS = 250_000

/** Quotas in the list of those that are about to run out. */
export const MAX_ALERTS = 100
