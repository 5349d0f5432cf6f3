import { formatUnits } from '../../formats.ts'

/** The search over everything. */
export const search = {
  label: 'Search',
  placeholder: 'User, quota, message id, reference, country, +234, plan, webhook or page',
  close: 'Close the search',
  list: 'Results',
  results: (count: number) => (count === 1 ? '1 result' : `${formatUnits(count)} results`),
  nothing: 'Nothing found. The search finds what an id, a name or a reference begins with.',
  more: 'There are more. Type more to find them.',
  /** What else people call a page, by its path. */
  words: {
    '/webhooks': 'Slack, Teams, e-mail, email, notifications, notify',
    '/prices': 'rates, rate cards, cost',
    '/pauses': 'paused destinations, breaker, pumping',
    '/messages': 'denials, reservations, sent',
    '/users': 'users, accounts',
    '/changes': 'audit, history, limits raised',
    '/requests': 'more units, approve',
  },
  groups: {
    recent: 'Recent',
    pages: 'Pages',
    actions: 'Actions',
    countries: 'Countries',
    users: 'Users',
    quotas: 'Quotas',
    plans: 'Plans',
    messages: 'Messages',
    webhooks: 'Webhooks',
  },
  hits: {
    user: (id: number) => `User ${id}`,
    quotas: (count: number) => (count === 1 ? '1 quota' : `${formatUnits(count)} quotas`),
    denied: 'Denied',
    plan: (version: number) => `Version ${version}`,
    defaultPlan: 'Default',
    unknownUser: (id: number) => `User ${id} is unknown: no quota, no message, no usage.`,
  },
  countries: {
    sendersTo: (name: string) => `Who sends to ${name}?`,
    denialsTo: (name: string) => `Denied messages to ${name}`,
    messagesOn: (name: string, day: string) => `Messages to ${name} on ${day}`,
    quotasFor: (name: string) => `Quotas for ${name}`,
    block: (name: string) => `Block ${name} for a user…`,
  },
  actions: {
    newQuota: 'New quota',
    newQuotaFor: (user: number) => `New quota for user ${user}`,
    newPlan: 'New plan',
    newWebhook: 'New webhook',
    language: (name: string) => `Language: ${name}`,
  },
}
