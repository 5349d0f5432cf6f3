import { useState } from 'react'
import { useLocation } from 'wouter'
import { newIdempotencyKey } from '../../api/http.ts'
import { EarlierRequest } from '../../components/earlier-request.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { useUrlState } from '../../components/url-state.ts'
import { emptyPlan, planBodyOf, samplePlan } from '../../model/plan-form.ts'
import { isSame } from '../../model/quota-form.ts'
import { oneOf } from '../../model/url-parameters.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { PlanForm } from './plan-form.tsx'
import { HERE } from './surroundings.ts'

const words = texts.plans.form
const STATE = { sample: oneOf(['1'], null) }

/** The form that creates a plan; with `?sample=1` it begins with a sample. */
export default function NewPlan() {
  const [{ sample }] = useUrlState(STATE)
  // The key drops what was typed for the other one.
  return <Form key={sample} isSample={sample !== null} />
}

function Form({ isSample }: { isSample: boolean }) {
  const [, navigate] = useLocation()
  const [first] = useState(() => (isSample ? samplePlan(texts.plans.sampleName, HERE) : emptyPlan(HERE)))
  const [values, setValues] = useState(first)
  // One key per form, so that repeated requests create one plan.
  const [key, setKey] = useState(newIdempotencyKey)
  useUnsavedInput(!isSame(planBodyOf(values), planBodyOf(first)))
  const creation = useChange('POST /admin/plans', ({ id }) => {
    releaseInput()
    navigate(`/plans/${id}`)
  })

  const create = (idempotencyKey: string) => creation.mutate({ body: planBodyOf(values), idempotencyKey })
  function createAnother() {
    const next = newIdempotencyKey()
    setKey(next)
    create(next)
  }
  return (
    <>
      <PageTitle title={words.newTitle} about={words.newAbout} />
      <PlanForm
        values={values}
        onChange={setValues}
        error={creation.error}
        isBusy={creation.isPending}
        onSubmit={() => create(key)}
        submitLabel={words.create}
        onCancel={() => navigate('/plans')}
        remedy={<EarlierRequest error={creation.error} words={words} href="/plans" onAnother={createAnother} />}
      />
    </>
  )
}
