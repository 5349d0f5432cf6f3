import { Checkbox, NativeSelect, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { MAX_BULK_IDS } from '../../../../src/domain/basics/bounds.ts'
import type { Api } from '../../api/types.ts'
import { Form, Leave } from '../../components/form.tsx'
import { TextField } from '../../components/text-field.tsx'
import { type RollOutSelection, usersIn } from '../../model/roll-out.ts'
import { givablePlansQuery } from '../../queries/plans.ts'
import { idsOf } from '../../queries/roll-out.ts'
import { texts } from '../../texts/texts.ts'

const words = texts.plans.rollOut

/** What is typed: the value of a choice, the list of users for that of `LISTED`, why, and whether new quotas begin anew. */
export const EMPTY = { chosen: '', list: '', reason: '', fresh: false }
const LISTED = 'users'

interface SelectionFormProps {
  plan: Api['PlanDetail']
  onClose: () => void
  input: typeof EMPTY
  onInput: (input: typeof EMPTY) => void
  onNext: (select: RollOutSelection) => void
}

/** Who gets the plan, and why. */
export function SelectionForm({ plan, input, onInput, onNext, onClose }: SelectionFormProps) {
  const others = useQuery(givablePlansQuery())
  const { list, reason, fresh } = input
  const goOn = (select: RollOutSelection) =>
    onNext({ ...select, ...(reason.trim() === '' ? {} : { reason: reason.trim() }), ...(fresh ? { fresh } : {}) })
  const finding = useMutation({
    mutationFn: idsOf,
    onSuccess: ({ ids, unknown }) => {
      if (unknown.length === 0) goOn({ users: ids })
    },
  })
  const [isTried, setTried] = useState(false)
  const choices = choicesOf(plan, others.data ?? [])
  const chosen = choices.some(({ value }) => value === input.chosen) ? input.chosen : LISTED
  const { users, wrong } = usersIn(list)
  const unknown = finding.data?.unknown ?? []
  const error = listError(users.length, wrong)
  function submit() {
    if (chosen !== LISTED) return goOn(choices.find(({ value }) => value === chosen)?.select ?? {})
    setTried(true)
    if (error === null) finding.mutate(users)
  }
  return (
    <Form
      sending={finding}
      onSubmit={submit}
      submit={words.preview}
      beside={<Leave onClick={onClose}>{words.cancel}</Leave>}
      maw="32rem"
    >
      <NativeSelect
        label={words.who}
        value={chosen}
        data={[...choices.map(({ value, label }) => ({ value, label })), { value: LISTED, label: words.listed }]}
        onChange={event => onInput({ ...input, chosen: event.currentTarget.value })}
      />
      {chosen === LISTED && (
        <ListField
          value={list}
          error={isTried && (error ?? (unknown.length > 0 && unknownText(unknown)))}
          onChange={text => {
            finding.reset()
            onInput({ ...input, list: text })
          }}
        />
      )}
      <TextField
        label={words.reason}
        about={words.reasonAbout}
        value={reason}
        maxLength={500}
        onChange={text => onInput({ ...input, reason: text })}
      />
      <Checkbox
        label={words.fresh}
        description={words.freshAbout}
        checked={fresh}
        onChange={event => onInput({ ...input, fresh: event.currentTarget.checked })}
      />
    </Form>
  )
}

interface ListFieldProps {
  value: string
  error: ReactNode
  onChange: (text: string) => void
}

function ListField({ value, error, onChange }: ListFieldProps) {
  return (
    <Textarea
      label={words.list}
      description={words.listAbout}
      placeholder={words.listExample}
      value={value}
      rows={4}
      required
      error={error}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

/** What is wrong with a list; null if nothing is. */
function listError(users: number, wrong: readonly string[]): string | null {
  const [first] = wrong
  if (first !== undefined) return words.notAUser(first)
  if (users === 0) return words.noUsers
  return users > MAX_BULK_IDS ? words.tooMany(MAX_BULK_IDS) : null
}

/** As many references as are named: a list may have thousands. */
const NAMED = 10

function unknownText(refs: readonly string[]): string {
  return words.unknownReferences(refs.slice(0, NAMED), Math.max(0, refs.length - NAMED))
}

interface Choice {
  value: string
  label: string
  select: RollOutSelection
}

/** All with an earlier version, if there are any, those with one of them, or those with another plan. */
function choicesOf({ id, version, users }: Api['PlanDetail'], plans: readonly Api['Plan'][]): Choice[] {
  const earlier = users.filter(entry => entry.version < version)
  const all = earlier.reduce((sum, entry) => sum + entry.users, 0)
  return [
    ...(all === 0 ? [] : [{ value: '', label: words.allEarlier(all), select: {} }]),
    ...earlier.map(entry => ({
      value: `version ${entry.version}`,
      label: words.oneVersion(entry.version, entry.users),
      select: { from_version: entry.version },
    })),
    ...plans
      .filter(plan => plan.id !== id)
      .map(plan => ({ value: `plan ${plan.id}`, label: words.ofPlan(plan.name), select: { from_plan: plan.id } })),
  ]
}
