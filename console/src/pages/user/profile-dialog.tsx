import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { ApiProblem, isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors, useFocusFirstError } from '../../components/form-errors.ts'
import { type FieldProps, TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { LOCAL_ZONE } from '../../formats.ts'
import {
  changedMeanwhile,
  changedProfile,
  isFixed,
  PROFILE_FIELDS,
  type ProfileField,
  type ProfileInput,
  profileText,
} from '../../model/profile-form.ts'
import { useUpdateProfile } from '../../queries/profile.ts'
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
  const element = useRef<HTMLFormElement>(null)
  const [input, setInput] = useState<ProfileInput>({})
  const [opened, setOpened] = useState(saved)
  const body = changedProfile(input, saved)
  const hasInput = Object.keys(body).length > 0
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const saving = useUpdateProfile(saved.user_id, () => {
    releaseInput()
    onSaved()
    onClose()
  })
  const isTaken = saving.error instanceof ApiProblem && saving.error.code === 'conflict'
  const errors = fieldErrors(saving.error, PROFILE_FIELDS, words.errors)
  // The answer to the save before this one was lost.
  const isSavedAlready = isOutdated(saving.error) && !hasInput
  const meanwhile = changedMeanwhile(input, opened, saved)
  useFocusFirstError(element, saving.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!hasInput) return onClose()
    if (saving.isPending) return
    // The version that the form shows, so that what it does not show is not overwritten.
    setOpened(saved)
    saving.mutate({ body, version: saved.version })
  }
  function propsOf(field: ProfileField): FieldProps<string> {
    const about = isFixed(field, saved) ? words.isFixed : words.aboutFields[field]
    return {
      label: words.labels[field],
      about: meanwhile.includes(field) ? words.savedMeanwhile(saved[field]) : about,
      value: profileText(field, input, saved),
      onChange: text => setInput({ ...input, [field]: text }),
      error: field === 'ref' && isTaken ? words.errors.refTaken : errors.at(field),
    }
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md">
        {isSavedAlready && (
          <Text size="sm" role="status">
            {words.saved}
          </Text>
        )}
        {errors.rest !== null && !isTaken && !isSavedAlready && (
          <ErrorNotice variant="form" error={errors.rest}>
            {isOutdated(saving.error) && words.changedMeanwhile}
          </ErrorNotice>
        )}
        {PROFILE_FIELDS.map(field =>
          field === 'time_zone' ? (
            <ZoneField key={field} {...propsOf(field)} />
          ) : (
            <TextField key={field} {...propsOf(field)} isDisabled={isFixed(field, saved)} />
          ),
        )}
        <Button type="submit" loading={saving.isPending}>
          {words.save}
        </Button>
      </Stack>
    </form>
  )
}

const ZONES = Intl.supportedValuesOf('timeZone')

/** The time zones of the browser, with its own first, and the one that is saved. */
function ZoneField({ label, about, value, onChange, error }: FieldProps<string>) {
  const zones = [...new Set([LOCAL_ZONE, 'UTC', ...(value === '' ? [] : [value]), ...ZONES])]
  return (
    <NativeSelect
      label={label}
      description={about}
      data={[{ value: '', label: words.none }, ...zones.map(zone => ({ value: zone, label: zone }))]}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={error}
    />
  )
}
