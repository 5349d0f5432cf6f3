import type { Api } from '../api/types.ts'

/** What the overview says: whether all is well, and what needs a decision. */

type Overview = Api['Overview']

/** What may not be well, the most urgent first. */
export const FINDINGS = [
  'service',
  'unread',
  'pauses',
  'trips',
  'webhooks',
  'blocked',
  'near_limit',
  'running_out',
  'ending',
  'requests',
  'unusual',
  'observed',
] as const
type FindingKind = (typeof FINDINGS)[number]

interface Found {
  count: number
  /** Whether there may be more than were counted. */
  isMore?: boolean | undefined
  /** Where one sees them; null: nowhere. */
  href: string | null
}

export interface Finding extends Found {
  kind: FindingKind
  isUrgent: boolean
}

/** All users at risk, in one list. */
export const AT_RISK_URL = '/users?view=at_risk'

const atRisk = (risk: 'blocked' | 'near_limit' | 'running_out' | 'ending') => {
  return ({ customers }: Overview): Found => ({
    count: customers?.[risk] ?? 0,
    isMore: customers?.is_more,
    href: `${AT_RISK_URL}&state=${risk}`,
  })
}

const FOUND: Record<FindingKind, (overview: Overview) => Found> = {
  service: ({ not_ready }) => ({ count: Number(not_ready !== null), href: null }),
  unread: ({ unread }) => ({ count: unread.length, href: null }),
  pauses: ({ pauses }) => ({ count: pauses?.count ?? 0, href: '/pauses' }),
  trips: ({ breaker }) => ({
    count: breaker?.tripped ?? 0,
    isMore: breaker?.is_more,
    href: '/pauses?show=all&origin=breaker',
  }),
  webhooks: ({ webhooks }) => ({ count: webhooks?.failing ?? 0, href: '/webhooks' }),
  blocked: atRisk('blocked'),
  near_limit: atRisk('near_limit'),
  running_out: atRisk('running_out'),
  ending: atRisk('ending'),
  requests: ({ requests }) => ({ count: requests?.open ?? 0, isMore: requests?.is_more, href: '/requests' }),
  unusual: ({ destinations }) => ({ count: destinations?.unusual ?? 0, href: '/overview?by=country' }),
  observed: ({ breaker }) => ({
    count: breaker?.observed ?? 0,
    isMore: breaker?.is_more,
    href: '/pauses?show=all&origin=breaker',
  }),
}

/** Messages are denied, or are not reported: these are seen to first. */
const URGENT: ReadonlySet<FindingKind> = new Set(['service', 'unread', 'trips', 'webhooks', 'blocked'])

/** What is not well, the most urgent first. None: all is well. */
export function findingsOf(overview: Overview): Finding[] {
  return FINDINGS.map(kind => ({ kind, isUrgent: URGENT.has(kind), ...FOUND[kind](overview) })).filter(
    ({ count }) => count > 0,
  )
}

/** Something that a person decides. */
export type Decision =
  | { kind: 'trip' | 'observed'; pause: Api['Pause'] }
  | { kind: 'webhook'; webhook: NonNullable<Overview['webhooks']>['items'][number] }
  | { kind: 'request'; request: Api['IncreaseRequest'] }
  | { kind: 'unusual'; destination: NonNullable<Overview['destinations']>['items'][number] }

/** The first few of what needs a decision, in the order of the findings. */
export function decisionsOf({ breaker, webhooks, requests, destinations }: Overview): Decision[] {
  const found = breaker?.items ?? []
  return [
    ...found.filter(({ observed, active }) => active && !observed).map(pause => ({ kind: 'trip' as const, pause })),
    ...(webhooks?.items ?? []).map(webhook => ({ kind: 'webhook' as const, webhook })),
    ...(requests?.items ?? []).map(request => ({ kind: 'request' as const, request })),
    ...(destinations?.items ?? []).map(destination => ({ kind: 'unusual' as const, destination })),
    ...found.filter(({ observed }) => observed).map(pause => ({ kind: 'observed' as const, pause })),
  ]
}
