import { Checkbox, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { newIdempotencyKey } from '../../api/http.ts'
import type { Api } from '../../api/types.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { Form, Leave } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'

const { form: words, archival } = texts.rates

type Fields = Pick<Api['RateCard'], 'name' | 'is_default'>

interface DialogProps {
  onClose: () => void
}

/** Makes a card, which charges one unit a segment at first. */
export function NewCard({ onClose, onDone }: DialogProps & { onDone: (card: Api['RateCard']) => void }) {
  const keyOf = useKeys()
  const making = useChange('POST /admin/rate-cards', card => {
    releaseInput()
    onDone(card)
  })
  return (
    <Dialog title={words.newTitle} isOpen onClose={onClose}>
      <CardForm
        initial={{ name: '', is_default: false }}
        about={words.newAbout}
        sending={making}
        onSave={body => making.mutate({ body, idempotencyKey: keyOf(body) })}
        submit={words.create}
      />
    </Dialog>
  )
}

/** Renames a card, or makes it the default. */
export function EditCard({ card, onClose }: DialogProps & { card: Api['RateCard'] }) {
  const keyOf = useKeys()
  const [{ id, version, name, is_default }] = useState(card)
  const saving = useChange('PUT /admin/rate-cards/{id}', () => {
    releaseInput()
    onClose()
  })
  return (
    <Dialog title={words.editTitle} isOpen onClose={onClose}>
      <CardForm
        initial={{ name, is_default }}
        sending={saving}
        onSave={body => saving.mutate({ id, body, ifMatch: version, idempotencyKey: keyOf(body) })}
        submit={words.save}
      />
    </Dialog>
  )
}

/** A repetition has the key of the first attempt, so that it is answered like that. */
function useKeys(): (body: Fields) => string {
  const sent = useRef({ text: '', key: '' })
  return body => {
    const text = JSON.stringify(body)
    if (sent.current.text !== text) sent.current = { text, key: newIdempotencyKey() }
    return sent.current.key
  }
}

interface CardFormProps {
  initial: Fields
  about?: string
  sending: { error: Error | null; isPending: boolean }
  onSave: (fields: Fields) => void
  submit: string
}

function CardForm({ initial, about, sending, onSave, submit }: CardFormProps) {
  const [fields, setFields] = useState(initial)
  const hasInput = fields.name !== initial.name || fields.is_default !== initial.is_default
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const errors = fieldErrors(sending.error, ['name'], words.errors)
  return (
    <Form sending={sending} rest={errors.rest} onSubmit={() => onSave(fields)} submit={submit}>
      {about !== undefined && <Text size="sm">{about}</Text>}
      <TextField
        label={words.name}
        value={fields.name}
        onChange={name => setFields({ ...fields, name })}
        error={errors.at('name')}
        required
      />
      <Checkbox
        label={words.isDefault}
        description={words.aboutIsDefault}
        checked={fields.is_default}
        onChange={event => setFields({ ...fields, is_default: event.currentTarget.checked })}
      />
    </Form>
  )
}

/** Archives a card, which cannot be undone. */
export function ArchiveCard({ card, onClose }: DialogProps & { card: Api['RateCardDetail'] }) {
  const archiving = useChange('DELETE /admin/rate-cards/{id}', onClose)
  const { id, version, plans, users, is_default } = card
  const isInUse = is_default || plans + users > 0
  return (
    <Dialog title={archival.title} isOpen onClose={onClose}>
      <Form
        sending={archiving}
        onSubmit={() => archiving.mutate({ id, ifMatch: version })}
        submit={archival.submit}
        isDanger
        isDisabled={isInUse}
        beside={<Leave onClick={onClose}>{archival.close}</Leave>}
      >
        <Text size="sm">
          {isInUse ? `${texts.rates.has(plans, users, is_default)} ${archival.inUse}` : archival.about}
        </Text>
      </Form>
    </Dialog>
  )
}
