/** What a run was, for each kind of sender. */
import type { Provider } from './provider.ts'
import type { LossyProxy } from './proxy.ts'
import type { RunRecord, SenderCounts } from './record.ts'
import type { Sender } from './senders.ts'

interface KindResult extends SenderCounts {
  /** Messages that the provider took. */
  sends: number
  /** Requests or answers that did not arrive, or in part. */
  'lost answers': number
}

/** By the kind of sender. */
export type Result = Record<string, KindResult | Pick<KindResult, 'messages' | 'sends'>>

const LOST: ReadonlySet<string> = new Set(['request lost', 'answer lost', 'request cut', 'answer cut'])

export interface Run {
  readonly senders: readonly Sender[]
  readonly provider: Provider
  readonly record: RunRecord
  readonly proxy: LossyProxy
}

export function resultOf({ senders, provider, record, proxy }: Run): Result {
  const result: Result = {}
  for (const { kind } of senders) {
    const names = new Set(senders.filter(sender => sender.kind === kind).map(({ name }) => name))
    const lost = proxy.passages.filter(({ sender, fault }) => names.has(sender) && LOST.has(fault)).length
    const sends = provider.taken.filter(({ by }) => names.has(by)).length
    result[kind] = { ...record.countsOf(kind), sends, 'lost answers': lost }
  }
  // These are messages of their senders, too.
  const sends = provider.taken.filter(({ by }) => by.startsWith('shared-')).length
  result['given to two'] = { messages: record.shared.size, sends }
  return result
}
