import { Text } from '@mantine/core'
import { useState } from 'react'
import { ApiProblem, isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { RateCardField } from '../../components/rate-card.tsx'
import { type FieldProps, TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { ZoneField } from '../../components/zone-field.tsx'
import {
  changedMeanwhile,
  changedProfile,
  isFixed,
  PROFILE_FIELDS,
  type ProfileField,
  type ProfileInput,
  profileText,
  savedText,
} from '../../model/profile-form.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'

type Profile = Api['UserProfile']

const words = texts.users.profile

interface FormProps {
  /** As it is saved now. */
  saved: Profile
  onClose: () => void
  onSaved: () => void
}

/** Changes the profile of a user. */
export function ProfileDialog({ isOpen, ...form }: FormProps & { isOpen: boolean }) {
  return (
    <Dialog title={words.edit} isOpen={isOpen} onClose={form.onClose}>
      <ProfileForm {...form} />
    </Dialog>
  )
}

function ProfileForm({ saved, onClose, onSaved }: FormProps) {
  const [input, setInput] = useState<ProfileInput>({})
  const [opened, setOpened] = useState(saved)
  const body = changedProfile(input, saved)
  const hasInput = Object.keys(body).length > 0
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const saving = useChange('PUT /admin/users/{user_id}/profile', () => {
    releaseInput()
    onSaved()
    onClose()
  })
  const isTaken = saving.error instanceof ApiProblem && saving.error.code === 'conflict'
  const errors = fieldErrors(saving.error, PROFILE_FIELDS, words.errors)
  // The answer to the save before this one was lost.
  const isSavedAlready = isOutdated(saving.error) && !hasInput
  const meanwhile = changedMeanwhile(input, opened, saved)

  function submit() {
    if (!hasInput) return onClose()
    // The version that the form shows, so that what it does not show is not overwritten.
    setOpened(saved)
    saving.mutate({ user_id: saved.user_id, body, ifMatch: saved.version })
  }
  function propsOf(field: ProfileField): FieldProps<string> {
    const about = isFixed(field, saved) ? words.isFixed : words.aboutFields[field]
    return {
      label: words.labels[field],
      about: meanwhile.includes(field) ? words.savedMeanwhile(savedText(field, saved)) : about,
      value: profileText(field, input, saved),
      onChange: text => setInput({ ...input, [field]: text }),
      error: field === 'ref' && isTaken ? words.errors.refTaken : errors.at(field),
    }
  }
  return (
    <Form
      sending={saving}
      rest={isTaken || isSavedAlready ? null : errors.rest}
      remedy={isOutdated(saving.error) && words.changedMeanwhile}
      onSubmit={submit}
      submit={words.save}
    >
      {isSavedAlready && (
        <Text size="sm" role="status">
          {words.saved}
        </Text>
      )}
      {PROFILE_FIELDS.map(field => {
        if (field === 'time_zone') return <ZoneField key={field} {...propsOf(field)} none={words.none} />
        if (field === 'rate_card_id')
          return <RateCardField key={field} {...propsOf(field)} none={texts.rates.field.asPlan} />
        return <TextField key={field} {...propsOf(field)} disabled={isFixed(field, saved)} />
      })}
    </Form>
  )
}
