import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { ApiProblem } from '../../api/problem.ts'
import { type FieldFaults, fieldFaults } from '../../parts/field-faults.ts'

/** What the service said is wrong with the form of a quota. @param fields the names of those that it shows */
export function quotaFaults(error: Error | null, fields: readonly string[]): FieldFaults {
  if (!(error instanceof ApiProblem) || error.code !== 'conflict') return fieldFaults(error, fields)
  return { at: field => (field === 'external_ref' ? <Conflict problem={error} /> : undefined), rest: null }
}

/** Another quota has the reference already. */
function Conflict({ problem: { message, existingId } }: { problem: ApiProblem }) {
  return (
    <>
      {message}{' '}
      {existingId !== null && (
        <Anchor component={Link} href={`/quotas/${existingId}`} inherit underline="always">
          Open quota {existingId}
        </Anchor>
      )}
    </>
  )
}
