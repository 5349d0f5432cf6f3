import type { Api } from '../../api/types.ts'
import { RecordedChanges } from '../../components/recorded-changes.tsx'
import { texts } from '../../texts/texts.ts'
import { PlanChanges } from './plan-changes.tsx'

/** Who changed the plan, when, and from what to what. */
export default function History({ plan: { id } }: { plan: Api['PlanDetail'] }) {
  return (
    <RecordedChanges of="plans" id={id}>
      {({ action, before, after }) => (
        <>
          {texts.plans.history.actions[action]}
          {action !== 'archived' && <PlanChanges before={before ?? {}} after={after} />}
        </>
      )}
    </RecordedChanges>
  )
}
