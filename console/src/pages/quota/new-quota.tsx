import { Anchor, Button, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { request } from '../../api/client.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { uint, useUrlState } from '../../parts/url-state.ts'
import { QuotaForm } from './quota-form.tsx'
import { blank, draftOf } from './typed.ts'

const ADDRESS = { user_id: uint }

/** Where a quota is made. `?user_id=7` tells whose. */
export default function NewQuota() {
  const [{ user_id }] = useUrlState(ADDRESS)
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState(() => blank(user_id))
  // One for the form: pressed twice, or again after an outage, it makes one quota.
  const [key, setKey] = useState(newIdempotencyKey)
  const queries = useQueryClient()
  const creation = useMutation({
    mutationFn: (idempotencyKey: string) =>
      request<Api['SmsQuota']>('/admin/quota', { method: 'POST', body: draftOf(typed), idempotencyKey }),
    onSuccess: quota => {
      void queries.invalidateQueries({ queryKey: ['quotas'] })
      navigate(`/quotas/${quota.id}`)
    },
  })
  const cameBefore = creation.error instanceof ApiProblem && creation.error.code === 'idempotency_mismatch'

  function makeAnother() {
    const next = newIdempotencyKey()
    setKey(next)
    creation.mutate(next)
  }
  return (
    <>
      <PageTitle title="New quota" about="A user and a limit are enough; all else has a sensible default." />
      <QuotaForm
        typed={typed}
        onChange={setTyped}
        was={null}
        error={creation.error}
        isBusy={creation.isPending}
        onSubmit={() => creation.mutate(key)}
        submitLabel="Create quota"
        onCancel={() => navigate(user_id === null ? '/quotas' : `/users/${user_id}`)}
        remedy={cameBefore && <CameBefore userId={typed.user_id} onAnother={makeAnother} />}
      />
    </>
  )
}

/** An answer was lost, and the form changed since: what was asked first has been made. */
function CameBefore({ userId, onAnother }: { userId: string; onAnother: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        So the first press made a quota after all, as the form was then. Look at it among the{' '}
        <Anchor component={Link} href={`/quotas?user_id=${encodeURIComponent(userId)}`} inherit underline="always">
          quotas of the user
        </Anchor>
        , or make this one beside it.
      </Text>
      <Button size="xs" variant="default" mt="xs" onClick={onAnother}>
        Make this one too
      </Button>
    </>
  )
}
