import { Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { newIdempotencyKey } from '../../api/http.ts'
import { isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Conflict } from '../../components/conflict.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { changedPlan, type PlanValues, planValuesOf, rebasedPlan } from '../../model/plan-form.ts'
import { readNow, useChange } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { PlanChanges } from './plan-changes.tsx'
import { PlanForm } from './plan-form.tsx'

type Plan = Api['PlanDetail']

const words = texts.plans.conflict

/** The form that changes a plan. */
export default function Edit({ plan }: { plan: Plan }) {
  return may(useCaller(), 'change') && !plan.archived ? <Form plan={plan} /> : <NotFound />
}

/** The plan as it is when the form opens; later changes of it do not affect the form. */
function Form({ plan }: { plan: Plan }) {
  const [, navigate] = useLocation()
  const [original, setOriginal] = useState(plan)
  const [values, setValues] = useState(() => planValuesOf(plan))
  /** The plan as someone else has saved it after this form was opened. */
  const [theirs, setTheirs] = useState<Plan | null>(null)
  const sent = useRef({ body: '', key: '' })
  const changes = changedPlan(values, original)
  const isChanged = Object.keys(changes).length > 0
  useUnsavedInput(isChanged)
  const { id } = plan
  const saving = useChange('PUT /admin/plans/{id}', leave, async () =>
    setTheirs(await readNow('GET /admin/plans/{id}', { id })),
  )

  function leave() {
    releaseInput()
    navigate(`/plans/${id}`)
  }
  function save(draft: PlanValues, base: Plan) {
    const body = changedPlan(draft, base)
    setValues(draft)
    setOriginal(base)
    setTheirs(null)
    if (Object.keys(body).length === 0) return leave()
    // A repetition has the key of the first attempt, so that it is answered like that.
    const text = JSON.stringify([base.version, body])
    if (sent.current.body !== text) sent.current = { body: text, key: newIdempotencyKey() }
    saving.mutate({ id, body, ifMatch: base.version, idempotencyKey: sent.current.key })
  }
  if (theirs !== null) {
    const rebased = rebasedPlan(values, original, theirs)
    const hasNothing = Object.keys(changedPlan(rebased.values, theirs)).length === 0
    return (
      <Conflict
        theirs={theirs}
        words={{ ...words, about: (actor, at) => words.about(actor, theirs.version, at) }}
        onSave={hasNothing ? null : () => save(rebased.values, theirs)}
        onDiscard={leave}
      >
        {hasNothing ? (
          <Text size="sm">{words.nothing}</Text>
        ) : (
          <TheirChanges before={original} after={theirs} changedByBoth={rebased.changedByBoth} />
        )}
      </Conflict>
    )
  }
  return (
    <>
      <Text size="sm" c="dimmed" mb="lg">
        {texts.plans.form.editAbout}
      </Text>
      <PlanForm
        values={values}
        onChange={setValues}
        error={isOutdated(saving.error) ? null : saving.error}
        isBusy={saving.isPending}
        onSubmit={() => save(values, original)}
        submitLabel={texts.plans.form.save}
        onCancel={leave}
      />
    </>
  )
}

interface TheirChangesProps {
  before: Plan
  after: Plan
  /** Theirs would be replaced. */
  changedByBoth: readonly string[]
}

function TheirChanges({ before, after, changedByBoth }: TheirChangesProps) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {words.theirs}
      </Text>
      <PlanChanges before={before} after={after} />
      {changedByBoth.length > 0 && (
        <Text size="sm" mt="xs">
          {words.both(changedByBoth)}
        </Text>
      )}
    </div>
  )
}
