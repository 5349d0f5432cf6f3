/** What goes wrong between senders and services: for a while little, then much, then nothing gets through, as the seed says. */
import type { Random } from '../fuzz/random.ts'

/** An answer that the proxy makes by itself. */
interface OwnAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Fault =
  | { readonly kind: 'none' }
  /** The connection ends before the request arrives, or it never gets an answer. */
  | { readonly kind: 'request lost'; readonly isSilent: boolean }
  /** The service answers, and the connection ends, or stays silent. */
  | { readonly kind: 'answer lost'; readonly isSilent: boolean }
  /** The request arrives so much later, also if its sender is gone. */
  | { readonly kind: 'request late'; readonly ms: number }
  | { readonly kind: 'answer late'; readonly ms: number }
  /** It arrives twice, the second time so much later, and one of the answers gets through. */
  | { readonly kind: 'doubled'; readonly ms: number; readonly isSecondAnswered: boolean }
  | { readonly kind: 'request cut' }
  | { readonly kind: 'answer cut' }
  | { readonly kind: 'answered'; readonly answer: OwnAnswer }

export type FaultKind = Fault['kind']

type Weather = 'calm' | 'rough' | 'away' | 'refusing'

export interface Forecast {
  /** What becomes of the next request. */
  next(): Fault
  /** From now on nothing goes wrong. */
  heal(): void
}

const WEATHERS: readonly Weather[] = ['calm', 'rough', 'calm', 'rough', 'calm', 'rough', 'away', 'refusing']
const SHORTEST_MS = 100
const LONGEST_MS = 1_500
/** The longest delay: as long as several calls. */
const LATE_MS = 2_500

const html = (title: string) => `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`

/** A page, as a proxy answers. */
const page = (status: number, title: string, headers: Record<string, string> = {}): OwnAnswer => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: html(`${status} ${title}`),
})

/** A problem, as the service answers. */
const problem = (status: number, code: string, headers: Record<string, string> = {}): OwnAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ type: 'about:blank', title: code, status, code, detail: 'of the proxy', request_id: 'proxy' }),
})

const AWAY: readonly OwnAnswer[] = [
  page(502, 'Bad Gateway'),
  page(503, 'Service Unavailable', { 'retry-after': '1' }),
  page(504, 'Gateway Time-out'),
  problem(503, 'unavailable'),
]

const REFUSALS: readonly OwnAnswer[] = [
  problem(401, 'unauthenticated'),
  page(401, 'Unauthorized'),
  problem(422, 'invalid_request'),
  page(422, 'Unprocessable Content'),
  problem(429, 'rate_limited', { 'retry-after': '1' }),
  page(429, 'Too Many Requests', { 'retry-after': '1' }),
  problem(503, 'overloaded', { 'retry-after': '1' }),
]

export function createForecast({ integer, percent, pick }: Random, now: () => number): Forecast {
  let weather: Weather = 'calm'
  let until = Number.NEGATIVE_INFINITY
  /** One answer for the whole time. */
  let answer: OwnAnswer | undefined
  let isHealed = false
  const delay = () => (percent(80) ? integer(300) : integer(LATE_MS))

  function turn(): void {
    weather = pick(WEATHERS)
    until = now() + SHORTEST_MS + integer(LONGEST_MS - SHORTEST_MS)
    answer = weather === 'refusing' ? pick(REFUSALS) : percent(60) ? pick(AWAY) : undefined
  }

  function rough(): Fault {
    switch (integer(9)) {
      case 0:
        return { kind: 'request lost', isSilent: percent(50) }
      case 1:
      case 2:
        return { kind: 'answer lost', isSilent: percent(50) }
      case 3:
        return { kind: 'request late', ms: delay() }
      case 4:
        return { kind: 'answer late', ms: delay() }
      case 5:
        return { kind: 'doubled', ms: delay(), isSecondAnswered: percent(50) }
      case 6:
        return { kind: 'request cut' }
      case 7:
        return { kind: 'answer cut' }
      default:
        return { kind: 'answered', answer: pick([...AWAY, ...REFUSALS]) }
    }
  }

  function away(): Fault {
    if (answer !== undefined) return { kind: 'answered', answer }
    return percent(50)
      ? { kind: 'request lost', isSilent: percent(30) }
      : { kind: 'answer lost', isSilent: percent(30) }
  }

  return {
    next() {
      if (isHealed) return { kind: 'none' }
      if (now() >= until) turn()
      if (weather === 'away') return away()
      if (weather === 'refusing' && answer !== undefined) return { kind: 'answered', answer }
      return percent(weather === 'rough' ? 40 : 3) ? rough() : { kind: 'none' }
    },
    heal() {
      isHealed = true
    },
  }
}
