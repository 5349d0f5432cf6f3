import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import { RecordedChanges, useChangesQuery } from '../../components/recorded-changes.tsx'
import { pageOf } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { PlanChanges } from './plan-changes.tsx'

/** Who changed the plan, when, and from what to what. */
export default function History({ plan: { id } }: { plan: Api['PlanDetail'] }) {
  const changes = useQuery(pageOf('GET /admin/plans/{id}/history', { id, query: useChangesQuery() }))
  return (
    <RecordedChanges page={changes}>
      {({ action, before, after }) => (
        <>
          {texts.plans.history.actions[action]}
          {action !== 'archived' && <PlanChanges before={before ?? {}} after={after} />}
        </>
      )}
    </RecordedChanges>
  )
}
