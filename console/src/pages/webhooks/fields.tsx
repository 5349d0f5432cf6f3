import { Checkbox, Radio, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { EVENT_TYPES } from '../../../../src/domain/event.ts'
import type { Api } from '../../api/types.ts'
import type { FieldErrors } from '../../components/field-errors.ts'
import { EVENT_TYPE_DESCRIPTIONS, type EventType } from './event-type-labels.ts'

/** Values of the webhook form. */
export type WebhookForm = Pick<Api['Webhook'], 'url' | 'types' | 'description'>

export const FIELDS = ['url', 'types', 'description'] as const

interface FieldsProps {
  value: WebhookForm
  errors: FieldErrors<(typeof FIELDS)[number]>
  onChange: (change: Partial<WebhookForm>) => void
}

export function WebhookFields({ value, errors, onChange }: FieldsProps) {
  return (
    <Stack gap="md">
      <TextInput
        label="URL"
        description="Events are posted to this public http or https URL."
        placeholder="https://example.com/sms-quota"
        required
        withAsterisk={false}
        type="url"
        value={value.url}
        error={errors.at('url')}
        onChange={event => onChange({ url: event.currentTarget.value })}
      />
      <Radio.Group
        label="Events"
        value={value.types === null ? 'all' : 'some'}
        error={value.types === null ? errors.at('types') : undefined}
        onChange={choice => onChange({ types: choice === 'all' ? null : [] })}
      >
        <Stack gap={6} mt={4}>
          <Radio size="xs" value="all" label="All events, including future types" />
          <Radio size="xs" value="some" label="Selected events" />
        </Stack>
      </Radio.Group>
      {value.types !== null && (
        <Types types={value.types} error={errors.at('types')} onChange={types => onChange({ types })} />
      )}
      <Textarea
        label="Description"
        description="Optional"
        autosize
        minRows={1}
        maxRows={5}
        value={value.description ?? ''}
        error={errors.at('description')}
        onChange={({ currentTarget: { value: text } }) => onChange({ description: text === '' ? null : text })}
      />
    </Stack>
  )
}

interface TypesProps {
  types: readonly string[]
  error: ReactNode
  onChange: (types: string[]) => void
}

function Types({ types, error, onChange }: TypesProps) {
  // Includes types that this version does not know, so that they can be deselected.
  const all = [...EVENT_TYPES, ...types.filter(type => !isKnown(type))]
  return (
    <Checkbox.Group aria-label="Event types" value={[...types]} error={error} onChange={onChange}>
      <Stack gap={10} ml={26}>
        {all.map(type => (
          <Checkbox
            key={type}
            size="xs"
            value={type}
            label={type}
            description={isKnown(type) ? EVENT_TYPE_DESCRIPTIONS[type] : undefined}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(EVENT_TYPE_DESCRIPTIONS, type)
}
