import type { Api } from '../../api/types.ts'
import { RecordedChanges } from '../changes/recorded-changes.tsx'

/** Who changed the webhook, when, and from what to what. */
export default function History({ webhook: { id } }: { webhook: Api['Webhook'] }) {
  return <RecordedChanges resource="webhook" thing_id={id} />
}
