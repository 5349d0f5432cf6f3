import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { ApiProblem } from '../../api/problem.ts'
import { type FieldErrors, fieldErrors } from '../../components/field-errors.ts'

/** Errors of the quota form by field. @param fields names of the shown fields */
export function quotaFormErrors(error: Error | null, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiProblem) || error.code !== 'conflict') return fieldErrors(error, fields)
  return { at: field => (field === 'external_ref' ? <Conflict problem={error} /> : undefined), rest: null }
}

/** Another quota already has the external reference. */
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
