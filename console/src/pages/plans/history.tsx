import type { Api } from '../../api/types.ts'
import { RecordedChanges } from '../changes/recorded-changes.tsx'

/** Who changed the plan, when, and from what to what. */
export default function History({ plan: { id } }: { plan: Api['PlanDetail'] }) {
  return <RecordedChanges resource="plan" thing_id={id} />
}
