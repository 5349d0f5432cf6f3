import type { Api } from '../api/types.ts'

/** The messages that the answers of a summary are about. */

type Summary = Api['QuotaSummary']

/** The answer to the messages of a scope; null values of the scope are all that no other answer names. */
export type Answer = Summary['scopes'][number]
export type Scope = Pick<Answer, 'countries' | 'message_types'>

/** The answer to messages that name neither country nor type. */
export function generalAnswer({ available, denial }: Pick<Summary, 'available' | 'denial'>): Answer {
  return { countries: null, message_types: null, available, denial }
}

/** Whether a quota counts the messages of an answer, which are all counted alike. */
export function covers(quota: Scope, messages: Scope): boolean {
  const lists = (values: string[] | null, named: string[] | null) =>
    values === null || (named !== null && values.includes(named[0] ?? ''))
  return lists(quota.countries, messages.countries) && lists(quota.message_types, messages.message_types)
}
