import { Checkbox, NativeSelect, Radio, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { EVENT_TYPES } from '../../../../src/domain/event.ts'
import { MESSAGE_LANGUAGES, type WebhookKind } from '../../../../src/domain/webhook.ts'
import type { FieldErrors } from '../../components/form-errors.ts'
import { hasAddresses } from '../../model/webhook-form.ts'
import type { WebhookSettings } from '../../queries/webhooks.ts'
import { texts } from '../../texts/texts.ts'

const { fields, eventTypes } = texts.webhooks

export const FIELDS = ['kind', 'url', 'addresses', 'types', 'description'] as const

interface FieldsProps {
  kind: WebhookKind
  /** What is shown of a URL that is a secret. Only another one replaces it. */
  shortenedUrl?: string | null
  value: WebhookSettings
  errors: FieldErrors<(typeof FIELDS)[number]>
  onChange: (change: Partial<WebhookSettings>) => void
}

export function WebhookFields({ kind, shortenedUrl = null, value, errors, onChange }: FieldsProps) {
  return (
    <Stack gap="md">
      {hasAddresses(kind) ? (
        <Textarea
          label={fields.addresses}
          description={fields.aboutAddresses}
          autosize
          minRows={1}
          value={value.addresses?.join('\n') ?? ''}
          error={errors.at('addresses')}
          onChange={({ currentTarget }) => onChange({ addresses: currentTarget.value.split('\n') })}
        />
      ) : (
        <TextInput
          label={fields.url}
          description={shortenedUrl === null ? kind === 'webhook' && fields.aboutUrl : fields.replaceUrl(shortenedUrl)}
          placeholder={kind === 'webhook' ? 'https://example.com/sms-quota' : undefined}
          required
          withAsterisk={false}
          type="url"
          value={value.url ?? ''}
          error={errors.at('url')}
          onChange={event => onChange({ url: event.currentTarget.value })}
        />
      )}
      {kind !== 'webhook' && (
        <NativeSelect
          label={fields.language}
          value={value.language}
          data={MESSAGE_LANGUAGES.map(language => ({ value: language, label: fields.languages[language] }))}
          onChange={({ currentTarget }) =>
            onChange({ language: MESSAGE_LANGUAGES.find(language => language === currentTarget.value) ?? 'en' })
          }
        />
      )}
      <Radio.Group
        label={fields.events}
        value={value.types === null ? 'all' : 'some'}
        error={value.types === null ? errors.at('types') : undefined}
        onChange={choice => onChange({ types: choice === 'all' ? null : [] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="all" label={fields.allEvents} />
          <Radio value="some" label={fields.selectedEvents} />
        </Stack>
      </Radio.Group>
      {value.types !== null && (
        <Types types={value.types} error={errors.at('types')} onChange={types => onChange({ types })} />
      )}
      <Textarea
        label={fields.description}
        description={fields.optional}
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
    <Checkbox.Group aria-label={fields.eventTypes} value={[...types]} error={error} onChange={onChange}>
      <Stack gap={10} ml={26}>
        {all.map(type => (
          <Checkbox key={type} value={type} label={type} description={isKnown(type) ? eventTypes[type] : undefined} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function isKnown(type: string): type is keyof typeof eventTypes {
  return Object.hasOwn(eventTypes, type)
}
