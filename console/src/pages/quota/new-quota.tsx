import { Anchor, Button, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { request } from '../../api/client.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { PageTitle } from '../../components/page-title.tsx'
import { uint, useUrlState } from '../../components/url-state.ts'
import { createBodyOf, emptyFormValues } from './form-values.ts'
import { QuotaForm } from './quota-form.tsx'

const URL_STATE = { user_id: uint }

/** The form that creates a quota, for the user of `?user_id=7` if set. */
export default function NewQuota() {
  const [{ user_id }] = useUrlState(URL_STATE)
  const [, navigate] = useLocation()
  const [values, setValues] = useState(() => emptyFormValues(user_id))
  // One key per form, so that repeated requests create one quota.
  const [key, setKey] = useState(newIdempotencyKey)
  const queryClient = useQueryClient()
  const creation = useMutation({
    mutationFn: (idempotencyKey: string) =>
      request<Api['SmsQuota']>('/admin/quota', { method: 'POST', body: createBodyOf(values), idempotencyKey }),
    onSuccess: quota => {
      void queryClient.invalidateQueries({ queryKey: ['quotas'] })
      navigate(`/quotas/${quota.id}`)
    },
  })
  const isEarlierRequest = creation.error instanceof ApiProblem && creation.error.code === 'idempotency_mismatch'

  function createAnother() {
    const next = newIdempotencyKey()
    setKey(next)
    creation.mutate(next)
  }
  return (
    <>
      <PageTitle title="New quota" about="Only user and limit are required." />
      <QuotaForm
        values={values}
        onChange={setValues}
        original={null}
        error={creation.error}
        isBusy={creation.isPending}
        onSubmit={() => creation.mutate(key)}
        submitLabel="Create quota"
        onCancel={() => navigate(user_id === null ? '/quotas' : `/users/${user_id}`)}
        remedy={isEarlierRequest && <EarlierRequest userId={values.user_id} onAnother={createAnother} />}
      />
    </>
  )
}

/** Shown when an earlier request of this form succeeded without a response, and the form was changed since. */
function EarlierRequest({ userId, onAnother }: { userId: string; onAnother: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        An earlier request of this form already created a quota with different values. Check the{' '}
        <Anchor component={Link} href={`/quotas?user_id=${encodeURIComponent(userId)}`} inherit underline="always">
          quotas of this user
        </Anchor>
        , or create another one.
      </Text>
      <Button size="xs" variant="default" mt="xs" onClick={onAnother}>
        Create another quota
      </Button>
    </>
  )
}
