/** A number in a document is that of the code: the default of a setting, or a constant. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Variable } from '../../src/config/variable.ts'
import { VARIABLES } from '../../src/config/variables.ts'

const ROOT = join(import.meta.dirname, '../..')
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** All but what was measured or decided at a time; with line breaks as blanks, because sentences go over several lines. */
const pages = ['docs', 'docs/guides', 'docs/reference', 'docs/decisions', '.', 'client', 'python']
  .flatMap(folder => readdirSync(join(ROOT, folder)).map(name => join(folder, name)))
  .filter(path => path.endsWith('.md') && !/CHANGELOG|benchmarks|performance|track-record/.test(path))
  .map(path => ({ path, text: textOf(path).replaceAll(/\s+/g, ' ') }))

const WORDS = 'zero one two three four five six seven eight nine ten'.split(' ')
function numberOf(text: string): number {
  if (text === 'half') return 0.5
  const index = /^an?$/.test(text) ? 1 : WORDS.indexOf(text)
  return index >= 0 ? index : Number(text.replaceAll(',', ''))
}

/** Each place where a page matches, with the groups. */
const found = (pattern: RegExp) =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(match => ({ place: `${path}: ${match[0]}`, groups: match.slice(1) })),
  )

test('a number beside the name of a setting is its default', () => {
  const beside = found(/`([A-Z][A-Z0-9_]+)`(?: \(|, )([0-9][0-9.,]*)(?=[),; ])/g)
  const before = found(/\b([0-9][0-9,]*)(?: [a-z]+){0,4} \(`([A-Z][A-Z0-9_]+)`\)/g)
  const reversed = before.map(({ place, groups }) => ({ place, groups: groups.toReversed() }))
  const wrong = [...beside, ...reversed].filter(({ groups: [name = '', number = ''] }) => {
    const [, variable] = Object.entries<Variable<unknown>>(VARIABLES).find(([known]) => known === name) ?? []
    return variable?.fallback !== number.replaceAll(',', '')
  })
  expect(wrong.map(({ place }) => place)).toEqual([])
  expect(beside.length).toBeGreaterThan(4)
  expect(before.length).toBeGreaterThan(1)
})

/** A file, a constant or option of it, the unit of the documents, and what they say, with the number as #. */
const STATED = `
src/domain/time/backoff.ts GIVE_UP_AFTER_MS day: again for # days | After # days without success | took nothing for # days | retries for # days
src/domain/basics/bounds.ts MAX_QUOTAS_PER_USER 1: at most # unexpired quotas | at most # quotas that are not deleted
src/domain/basics/bounds.ts MAX_CAPS_PER_VALUE 1: at most # such caps
src/domain/basics/bounds.ts MAX_PAUSES 1: # are active at most
src/domain/basics/bounds.ts MAX_OPEN_REQUESTS 1: # of a user are open at most
src/domain/basics/bounds.ts MAX_REQUESTS_PER_DAY 1: at most, and # made in 24 hours
src/domain/basics/bounds.ts DEFAULT_TTL_SECONDS 1: \`ttl_seconds\` (# by default)
src/domain/basics/bounds.ts MAX_SEGMENTS 1: texts of at most # SMS
src/domain/basics/bounds.ts MAX_BULK_IDS 1: \`ids\` (at most #) | \`user_ids\` (at most #) | a call for each # users
src/domain/basics/bounds.ts MAX_LISTED_FAILURES 1: The first # are listed | in calls of at most # rows
src/domain/basics/bounds.ts USAGE_DETAIL_DAYS 1: older than # days is kept by the day | by the quarter of an hour for # days | into days after # days
src/domain/basics/bounds.ts USAGE_DAYS_KEPT 1: older than # days by the month | by the day for # days | into months after # days | # days after their end
src/domain/pauses/breaker.ts HISTORY_DAYS 1: have paused in the last # days
src/domain/webhooks/webhook.ts MAX_WEBHOOKS 1: at most # webhooks
src/domain/webhooks/webhook.ts MAX_MESSAGES_PER_MINUTE 1: More than # events of a webhook within a minute
src/domain/webhooks/webhook.ts MAX_EVENTS_OF_MESSAGE 1: More than # become several
src/domain/webhooks/webhook.ts MAX_EMAIL_ADDRESSES 1: up to # addresses
src/domain/webhooks/webhook.ts MAX_WEBHOOK_USERS 1: events of up to # users
src/domain/users/user-address.ts MAX_LINKS_PER_HOUR 1: t most # links go out in the hour | t most # links in the hour
src/db/ledger/principals.ts MAX_PRINCIPALS 1: #; reservations of later ones name none | senders beyond the first #
src/db/users/principal-names.ts MAX_NAMES 1: #, later ones have no name
src/db/users/profiles.ts REFERENCE_RESERVED_MS minute: a reference # minutes later | another user # minutes after
src/db/usage/heavy-users.ts BUSY_ROWS 1: users with # usage rows a day or more
src/db/connection/database.ts STATEMENT_TIMEOUT_MS second: A statement may run for # s
src/db/connection/session.ts LOCK_TIMEOUT_MS second: and wait # s for a lock
src/db/connection/session.ts MAX_LOST 1: While more than # of them do not end
src/db/connection/pipelined-connection.ts BATCH_TIMEOUT_MS second: gives up on a batch after # s
src/db/schema/migrate.ts LOCK_TIMEOUT_MS second: A migration waits # a second for a lock
src/db/schema/migrate.ts LOCK_WAIT_MS minute: after # minutes it fails
src/admin/kit/idempotency.ts KEPT_MS day: # days, removed by later changes
src/jobs/webhook-secrets.ts INTERVAL_MS minute: Within # minute everything is encrypted
src/jobs/webhook-channel.ts WINDOW 1: attempts at webhooks by # a webhook
src/jobs/webhook-sender.ts TIMEOUT_MS second: an attempt has # s | A receiver has # s to answer
src/events/feed.ts MAX_WAITING 1: long polls of the feed by # a principal
src/events/post.ts MAX_INTERIM_RESPONSES 1: and # interim responses
src/engine/engine.ts queueCommands 1: # commands or 64 MiB wait at most
src/engine/lane.ts BATCH_SIZE 1: takes all that waits, up to # commands
src/engine/lane.ts BATCH_SHARE 1: a batch takes at most # of each
src/engine/lane.ts DISK_FULL_MS second: found no room in the last # seconds
src/engine/lane.ts DEFAULT_GIVE_UP_MS second: 503 \`unavailable\`, senders after # seconds
src/engine/memory.ts MAX_USERS 1: the quotas of the # users last used
src/engine/memory.ts MAX_QUOTAS 1: (# quotas at most)
src/engine/memory.ts MAX_RESERVATIONS 1: the last # reservations
src/app.ts JOB_CONNECTIONS 1: for people, # for jobs and webhooks
src/engine/engine.ts ENGINE_CONNECTIONS 1: the clock, and # for senders
src/clock.ts MAX_OFFSET_MS 1: by more than # ms
src/main.ts STOP_MS second: If steps 2 and 3 take more than # s
src/http/listener.ts DRAIN_MS second: connections that are still open after # s
src/http/listener.ts headersTimeout second: headers have # s
src/http/listener.ts requestTimeout second: have 10 s, requests # s
src/http/listener.ts keepAliveTimeout second: keeps idle ones for # s
src/http/tls.ts CHECK_MS second: Within # seconds the log says
src/http/auth/authenticator.ts TOLERANCE_SECONDS 1: with a tolerance of # seconds
src/http/auth/keys.ts COOLDOWN_MS second: once in # seconds at most
src/domain/time/memories.ts keysOfAbsentServer hour: fetched before are used for # hour
src/http/platform/slow-down.ts WAIT_MS second: answers after about # a second
src/http/platform/request-log.ts MAX_LINES_PER_SECOND 1: the first # lines of a second
src/http/platform/validation.ts MAX_UNKNOWN_NAMES 1: more than # unknown names
src/http/changes/step-pacer.ts MAX_RUNNING 1: gifts at a time in a process | #;
src/cli/verify.ts MAX_DIFFERENCES 1: stdout says which, the first #)
src/cli/remote/lists.ts DEFAULT_ROWS 1: A list shows # rows
src/cli/remote/agent/agent.ts MAX_CALLS 1: An agent holds # calls
src/cli/remote/agent/debts.ts MAX_DEBTS 1: Full** with # debts
src/cli/remote/agent/leases.ts MAX_LEASES 1: Bounds**: # leases
src/cli/remote/agent/command.ts DEFAULT_LEASE_UNITS 1: \`--lease-units\` (# by default)
client/src/client.ts SENDER_TIMEOUT_MS second: deadline**: # s for senders | # s for senders by default
`
  .trim()
  .split('\n')
  .map(line => {
    const [, path = '', name = '', unit = '', phrases = ''] = /^(\S+) (\w+) (\w+): (.*)$/.exec(line) ?? []
    return [path, name, unit, phrases.split(/ \| (?!#;)/)] as const
  })

const SECOND = 1_000
const UNITS = new Map([
  ['second', SECOND],
  ['minute', 60 * SECOND],
  ['hour', 3_600 * SECOND],
  ['day', 86_400 * SECOND],
])
const unitOf = (name: string) => UNITS.get(name.toLowerCase().replace(/_ms$/, '')) ?? Number(name)

/** The value of the constant, option or parameter: a number, or a product. */
function constantOf(path: string, name: string): number {
  const [, source = ''] = new RegExp(`\\b${name} ?[=:] ([\\w* ]+)`).exec(textOf(path)) ?? []
  return source.split('*').reduce((product, factor) => product * unitOf(factor.trim().replaceAll(/(?<=\d)_/g, '')), 1)
}

test.each(STATED)('%s: documents state %s', (path, name, unit, phrases) => {
  const stated = phrases.flatMap(phrase => {
    const [before = '', after = ''] = phrase.split('#').map(RegExp.escape)
    const places = found(new RegExp(`${before}([\\w,.]*\\w)${after}`, 'g'))
    return places.length === 0
      ? [{ place: `no page: ${phrase}`, number: Number.NaN }]
      : places.map(({ place, groups: [number = ''] }) => ({ place, number: numberOf(number) }))
  })
  const value = constantOf(path, name) / unitOf(unit)
  expect(stated.filter(({ number }) => number !== value)).toEqual([])
})

test('the bound of support is for a user in 24 hours, wherever it is stated', () => {
  const sentences = pages
    .flatMap(({ text }) => text.split(/[.|]/))
    .filter(text => /bound of support|SUPPORT_ADJUST_LIMIT` units/.test(text))
  expect(sentences.length).toBeGreaterThan(3)
  expect(sentences.filter(text => !/user.*24 hours|24 hours.*user/.test(text))).toEqual([])
})
