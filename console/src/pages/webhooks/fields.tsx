import { Checkbox, Radio, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { EVENT_TYPES } from '../../../../src/domain/event.ts'
import type { Api } from '../../api/types.ts'
import type { FieldFaults } from '../../parts/field-faults.ts'
import { EVENT_WORDS, type EventType } from './event-types.ts'

/** What people say of a webhook, as it is typed. */
export type WebhookForm = Pick<Api['Webhook'], 'url' | 'types' | 'description'>

export const FIELDS = ['url', 'types', 'description'] as const

interface FieldsProps {
  value: WebhookForm
  faults: FieldFaults<(typeof FIELDS)[number]>
  onChange: (change: Partial<WebhookForm>) => void
}

export function WebhookFields({ value, faults, onChange }: FieldsProps) {
  return (
    <Stack gap="md">
      <TextInput
        label="Address"
        description="Where events are posted: an http or https URL of the public internet."
        placeholder="https://example.com/sms-quota"
        required
        withAsterisk={false}
        type="url"
        value={value.url}
        error={faults.at('url')}
        onChange={event => onChange({ url: event.currentTarget.value })}
      />
      <Radio.Group
        label="Events"
        value={value.types === null ? 'all' : 'some'}
        error={value.types === null ? faults.at('types') : undefined}
        onChange={choice => onChange({ types: choice === 'all' ? null : [] })}
      >
        <Stack gap={6} mt={4}>
          <Radio size="xs" value="all" label="All, and types that are still to come" />
          <Radio size="xs" value="some" label="Only these" />
        </Stack>
      </Radio.Group>
      {value.types !== null && (
        <Types types={value.types} error={faults.at('types')} onChange={types => onChange({ types })} />
      )}
      <Textarea
        label="Description"
        description="For people; not needed."
        autosize
        minRows={1}
        maxRows={5}
        value={value.description ?? ''}
        error={faults.at('description')}
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
  // A type that this console does not know can be seen and given up, too.
  const all = [...EVENT_TYPES, ...types.filter(type => !isKnown(type))]
  return (
    <Checkbox.Group aria-label="Types of events" value={[...types]} error={error} onChange={onChange}>
      <Stack gap={10} ml={26}>
        {all.map(type => (
          <Checkbox
            key={type}
            size="xs"
            value={type}
            label={type}
            description={isKnown(type) ? EVENT_WORDS[type] : undefined}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(EVENT_WORDS, type)
}
