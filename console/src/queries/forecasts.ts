import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { daysUntilNow } from '../model/time-ranges.ts'
import { request } from '../session/client.ts'
import { readAlerts, readTopUsers, useLive } from './overview.ts'
import { readSummaries } from './summaries.ts'

/** Refetch interval: a forecast needs a call for each user. */
const INTERVAL_MS = 300_000

/** As many as the API names at once. */
const MAX_FORECAST_ALERTS = 100
const MAX_FORECAST_USERS = 100

/** Beyond, reading the summary of each user would take minutes. */
const MAX_ALL_USERS = 2_000

export interface Forecasts {
  summaries: Api['QuotaSummary'][]
  /** Whether these are all users who have sent in the last 7 days; 'too many': all were asked for. */
  coverage: 'all' | 'top' | 'too many'
}

/**
 * The summaries of users who may run out soon: of those who sent most in the last 7 days, at most 100, and of those near a
 * limit, at most as many. The key is none that events invalidate.
 *
 * @param isAll of all who sent in the last 7 days, if they are not too many
 */
export function useForecasts(isAll: boolean) {
  const read = async (signal: AbortSignal): Promise<Forecasts> => {
    const near = await readAlerts(100, signal, MAX_FORECAST_ALERTS)
    const all = isAll ? await readSenders(signal) : null
    const senders = all ?? (await readTopSenders(signal))
    const ids = [...new Set([...near.items.map(({ quota }) => quota.user_id), ...senders])]
    const summaries = await readSummaries(ids, signal)
    const isComplete = all !== null || senders.length < MAX_FORECAST_USERS
    return { summaries, coverage: isComplete ? 'all' : isAll ? 'too many' : 'top' }
  }
  return useLive(['forecasts', isAll], read, INTERVAL_MS)
}

/** The users who sent most in the last 7 days. */
async function readTopSenders(signal: AbortSignal): Promise<number[]> {
  const { items } = await readTopUsers(daysUntilNow(6, new Date()), MAX_FORECAST_USERS, signal)
  return items.map(({ user_id }) => user_id)
}

/** All users who have sent in the last 7 days; null if they are too many for a report or for this page. */
async function readSenders(signal: AbortSignal): Promise<number[] | null> {
  const query = { ...daysUntilNow(6, new Date()), interval: 'month', group_by: 'user' }
  try {
    const { items } = await request<Api['Usage']>('/admin/quota/usage', { query, signal })
    const ids = new Set(items.flatMap(({ user_id }) => (user_id === undefined ? [] : [user_id])))
    return ids.size > MAX_ALL_USERS ? null : [...ids]
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'invalid_request') return null
    throw error
  }
}
