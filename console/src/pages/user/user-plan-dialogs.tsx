import { Checkbox, NativeSelect, Text } from '@mantine/core'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { Form, Leave } from '../../components/form.tsx'
import { GivablePlans } from '../../components/givable-plans.tsx'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { SlotList } from '../plans/slots.tsx'

const words = texts.plans.ofUser

interface DialogProps {
  owned: Api['UserPlan']
  /** Receives a confirmation message. */
  onDone: (message: string) => void
  onClose: () => void
}

/** Gives a user a plan, in place of the one before. */
export function GivePlanDialog(props: DialogProps) {
  return (
    <Dialog title={words.titles.give} isOpen onClose={props.onClose}>
      <GivablePlans>{found => <GiveForm {...props} plans={found} />}</GivablePlans>
    </Dialog>
  )
}

function GiveForm({ owned, onDone, onClose, plans }: DialogProps & { plans: readonly Api['Plan'][] }) {
  const first = plans.find(({ id }) => id === owned.plan?.id)?.id ?? null
  const [chosen, setChosen] = useState(first)
  const [isReset, setReset] = useState(false)
  const [isFresh, setFresh] = useState(false)
  const [isTried, setTried] = useState(false)
  const { user_id } = owned
  const giving = useChange('PUT /admin/users/{user_id}/plan', given => {
    onDone(doneText(given))
    onClose()
  })
  const slots = plans.find(({ id }) => id === chosen)?.slots
  const hasKept = owned.slots.some(({ kept }) => kept.length > 0)
  useDialogInput(chosen !== first || isReset || isFresh)

  function submit() {
    setTried(true)
    if (chosen === null) return
    const body = { plan_id: chosen, ...(isReset ? { reset: true } : {}), ...(isFresh ? { fresh: true } : {}) }
    giving.mutate({ user_id, body })
  }
  return (
    <Form
      sending={giving}
      onSubmit={submit}
      submit={words.submit}
      beside={<Leave onClick={onClose}>{words.cancel}</Leave>}
    >
      <NativeSelect
        label={words.plan}
        value={chosen ?? ''}
        data={[
          ...(first === null ? [{ value: '', label: words.choose }] : []),
          ...plans.map(({ id, name, version }) => ({ value: String(id), label: words.current(name, version) })),
        ]}
        error={isTried && chosen === null && words.choose}
        onChange={({ currentTarget: { value } }) => setChosen(value === '' ? null : Number(value))}
      />
      {slots !== undefined && <SlotList slots={slots} />}
      <Text size="sm">{words.about}</Text>
      {hasKept && (
        <Checkbox label={words.reset} checked={isReset} onChange={event => setReset(event.currentTarget.checked)} />
      )}
      <Checkbox
        label={texts.plans.rollOut.fresh}
        description={texts.plans.rollOut.freshAbout}
        checked={isFresh}
        onChange={event => setFresh(event.currentTarget.checked)}
      />
    </Form>
  )
}

/** What became of the quotas. One that replaces another is new, and the other has ended. */
function doneText({ plan, slots, ended }: Api['UserPlan']): string {
  const count = (...outcomes: string[]) => slots.filter(({ outcome }) => outcomes.includes(outcome)).length
  const carried = slots.filter(slot => slot.carried > 0).length
  return words.given(plan?.name ?? '', count('made', 'replaced'), count('changed'), ended.length, carried)
}

/** Takes the plan of a user away, which ends its quotas. */
export function TakePlanDialog({ owned, onDone, onClose, name }: DialogProps & { name: string }) {
  const { user_id } = owned
  const taking = useChange('DELETE /admin/users/{user_id}/plan', () => {
    onDone(words.taken)
    onClose()
  })
  return (
    <Dialog title={words.titles.take} isOpen onClose={onClose}>
      <Form
        sending={taking}
        onSubmit={() => taking.mutate({ user_id })}
        submit={words.submitTake}
        isDanger
        beside={<Leave onClick={onClose}>{words.cancel}</Leave>}
      >
        <Text size="sm">{words.aboutTake(name)}</Text>
      </Form>
    </Dialog>
  )
}
