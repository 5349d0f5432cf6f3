import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ListState } from '../../model/quota-lists.ts'
import { givablePlansQuery } from '../../queries/plans.ts'
import { texts } from '../../texts/texts.ts'

interface PlanFilterProps {
  state: ListState
  onChange: (parts: Partial<ListState>) => void
}

const { filters } = texts.quotas

/** Selects the quotas of a plan. Nothing for a service without plans. */
export default function PlanFilter({ state: { plan_id, plan_version }, onChange }: PlanFilterProps) {
  const { data: plans = [] } = useQuery(givablePlansQuery())
  if (plans.length === 0 && plan_id === null) return null
  const value = plan_id === null ? '' : String(plan_id)
  const choices = plans.map(({ id, name }) => ({ value: String(id), label: name }))
  // An archived plan, or one that does not exist.
  if (plan_id !== null && !choices.some(choice => choice.value === value))
    choices.push({ value, label: filters.planOf(plan_id) })
  const data = choices.map(choice =>
    choice.value === value && plan_version !== null
      ? { ...choice, label: filters.planVersion(choice.label, plan_version) }
      : choice,
  )
  return (
    <NativeSelect
      label={filters.plan}
      size="xs"
      value={value}
      data={[{ value: '', label: filters.allPlans }, ...data]}
      onChange={({ currentTarget }) =>
        onChange({ plan_id: currentTarget.value === '' ? null : Number(currentTarget.value), plan_version: null })
      }
    />
  )
}
