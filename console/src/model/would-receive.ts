import { DAY_MS } from '../../../src/domain/time/time.ts'
import type { Api } from '../api/types.ts'

/** Which of the latest events a webhook would receive, so that its settings show what they come to. */

type Event = Api['Event']
type Settings = Pick<Api['Webhook'], 'types' | 'user_ids' | 'only_when_low'>

/** Whether the settings take an event, as the service decides it. */
function takes({ types, user_ids, only_when_low: low }: Settings, event: Event): boolean {
  if (types !== null && !types.includes(event.type)) return false
  if (user_ids !== null && (event.user_id === null || !user_ids.includes(event.user_id))) return false
  return low === null || event.type !== 'quota.threshold_reached' || isLow(low, event.data)
}

type Threshold = Extract<Event, { type: 'quota.threshold_reached' }>['data']

function isLow({ units, share }: NonNullable<Settings['only_when_low']>, { sendable, quota }: Partial<Threshold>) {
  // Events of earlier versions do not say what can be sent.
  if (sendable === undefined) return true
  const left = sendable.units
  if (left === null) return false
  return (
    (units !== undefined && left < units) ||
    (share !== undefined && quota != null && quota.limit !== null && left < share * quota.limit)
  )
}

/** How many events of the last 24 hours the settings take. */
export interface TakenLately {
  count: number
  /** Whether older events of these hours were not read. */
  isMore: boolean
}

/** @param events the latest ones, oldest first; @param isAll whether there are no older ones */
export function takenLately(settings: Settings, events: readonly Event[], isAll: boolean, now: number): TakenLately {
  const since = now - DAY_MS
  const lately = events.filter(({ at }) => Date.parse(at) >= since)
  const isMore = !isAll && lately.length === events.length && events.length > 0
  return { count: lately.filter(event => takes(settings, event)).length, isMore }
}
