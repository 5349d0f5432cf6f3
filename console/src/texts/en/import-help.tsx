import type { ColumnName } from '../../../../src/domain/quotas/quota-file.ts'
import { formatUnits } from '../../formats.ts'

const COLUMNS: Readonly<Record<ColumnName, string>> = {
  id: 'The quota that the line changes, as in an export.',
  user_id: 'Whose quota it is.',
  user_ref: 'The user by reference, in place of user_id.',
  kind: 'grant or cap. Without it: grant.',
  period: 'hour, day, week, month or year; minute for caps with per. Without it: it does not reset.',
  anchor: 'The day on which months begin, or the date of years: 04-01.',
  time_zone: 'Where the period begins at midnight.',
  per: 'Of caps: the limit holds for each recipient, country or tag.',
  counts: 'Of caps: units or messages.',
  name: 'What people call it.',
  limit: 'Units a period: digits only. null is unlimited.',
  rollover_limit: 'The most unused units that go on to the next window.',
  overage_limit: 'How far a grant may go past its limit.',
  priority: 'From 0 to 255. Lower pays first.',
  starts_at: 'A day or a time. Without it: now.',
  expires_at: 'A day or a time. Without it: never.',
  countries: 'Codes of countries with blanks between them. Without it: all.',
  message_types: 'Types with blanks between them. Without it: all.',
  alert_at: 'Percents of use at which to alert.',
  enabled: 'true or false. false suspends it.',
  external_ref: 'Your own name for it. A known one is updated.',
  metadata: 'More values of your own, as JSON.',
  opening_used: 'Units already used elsewhere in this period.',
  allow_below_usage: 'true lets a limit be lower than what is used.',
  plan: 'The plan that the user gets, by name or id.',
}

/** What a file to import looks like, and what a list of users can get. */
export const importHelp = {
  quotas:
    'To create and update quotas, use the columns user_id, external_ref and limit: each line is a quota. A known reference is updated, another one created. An exported file changes the quotas that it names by id. To give users plans, use the columns user_id (or user_ref) and plan, with the name or the id of the plan. A check comes first.',
  users: (users: string, units: string) =>
    `To give users more units, use a column of user ids with one of the names ${users}. If the units differ, add a column with one of the names ${units}. Other columns are ignored. How many units, for how long and why is asked next, and a preview comes before anything changes. A list of ids alone can get a plan, too. For example:`,
  template: 'Download a template',
  columns: 'Columns of quotas, with examples',
  head: { column: 'Column', example: 'Example', about: 'Meaning' },
  aboutColumns: COLUMNS,
  units: 'Give units',
  plan: 'Give a plan',
  planFor: (users: number) => `A plan for ${formatUnits(users)} ${users === 1 ? 'user' : 'users'}`,
  aboutPlan:
    'Each user gets all quotas of the plan, in place of those of the plan before. Quotas of the users’ own stay beside them.',
  planLabel: 'Plan',
  choosePlan: 'Choose a plan',
  version: (name: string, version: number) => `${name}, version ${version}`,
  check: 'Check (changes nothing)',
}
