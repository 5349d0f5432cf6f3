import { Checkbox, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { EVENT_TYPES, OWN_EVENT_TYPES } from '../../../../src/domain/events/event.ts'
import { MESSAGE_LANGUAGES, type WebhookKind } from '../../../../src/domain/webhooks/webhook.ts'
import type { FieldErrors } from '../../components/form-errors.ts'
import { RadioField } from '../../components/radio-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { UsersField } from '../../components/users-field.tsx'
import { ZoneField } from '../../components/zone-field.tsx'
import { LOCAL_ZONE } from '../../formats.ts'
import {
  hasAddresses,
  hasUrl,
  isPreset,
  presetOf,
  takesThresholds,
  type WebhookInput,
} from '../../model/webhook-form.ts'
import { texts } from '../../texts/texts.ts'
import { receivedText } from './received.ts'

const { fields, eventTypes } = texts.webhooks

export const FIELDS = [
  'kind',
  'url',
  'addresses',
  'types',
  'user_ids',
  'only_when_low',
  'digest',
  'description',
] as const

interface FieldsProps {
  kind: WebhookKind
  value: WebhookInput
  errors: FieldErrors<(typeof FIELDS)[number]>
  onChange: (change: Partial<WebhookInput>) => void
}

interface AllFieldsProps extends FieldsProps {
  /** What is shown of a URL that is a secret. Only another one replaces it. */
  shortenedUrl?: string | null
}

export function WebhookFields({ shortenedUrl = null, ...props }: AllFieldsProps) {
  const { kind, value, errors, onChange } = props
  return (
    <Stack gap="md">
      <Destination {...props} shortenedUrl={shortenedUrl} />
      {kind !== 'webhook' && kind !== 'users' && (
        <NativeSelect
          label={fields.language}
          value={value.language}
          data={MESSAGE_LANGUAGES.map(language => ({ value: language, label: fields.languages[language] }))}
          onChange={({ currentTarget }) =>
            onChange({ language: MESSAGE_LANGUAGES.find(language => language === currentTarget.value) ?? 'en' })
          }
        />
      )}
      <Events {...props} />
      {(takesThresholds(value.types) || value.only_when_low !== null) && <WhenLow {...props} />}
      <Users {...props} />
      {kind !== 'webhook' && <When {...props} />}
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
      <Text size="sm">
        <strong>{fields.receives}:</strong> {receivedText(kind, value)}
      </Text>
    </Stack>
  )
}

function Destination({
  kind,
  shortenedUrl,
  value,
  errors,
  onChange,
}: AllFieldsProps & { shortenedUrl: string | null }) {
  if (!hasAddresses(kind) && !hasUrl(kind)) return null
  return hasAddresses(kind) ? (
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
  )
}

function Events({ kind, value: { types }, errors, onChange }: FieldsProps) {
  // Whether what people need to hear of is shown as a selection, to be changed.
  const [isOpen, setOpen] = useState(false)
  const hasPreset = kind !== 'webhook'
  const choice = types === null ? 'all' : hasPreset && !isOpen && isPreset(kind, types) ? 'people' : 'some'
  function choose(chosen: string) {
    setOpen(chosen === 'some')
    onChange({ types: chosen === 'all' ? null : chosen === 'people' ? presetOf(kind) : (types ?? []) })
  }
  return (
    <>
      <RadioField
        label={fields.events}
        value={choice}
        error={types === null ? errors.at('types') : undefined}
        onChange={choose}
        choices={
          kind === 'webhook' ? ['all', 'some'] : kind === 'users' ? ['people', 'some'] : ['people', 'all', 'some']
        }
        labels={{
          people: kind === 'users' ? fields.usualEvents : fields.forPeople,
          all: fields.allEvents,
          some: fields.selectedEvents,
        }}
      />
      {types !== null && choice === 'some' && (
        <Types kind={kind} types={types} error={errors.at('types')} onChange={chosen => onChange({ types: chosen })} />
      )}
    </>
  )
}

interface TypesProps {
  kind: WebhookKind
  types: readonly string[]
  error: ReactNode
  onChange: (types: string[]) => void
}

function Types({ kind, types, error, onChange }: TypesProps) {
  // Includes types that this version does not know, so that they can be deselected.
  const all = [...(kind === 'users' ? OWN_EVENT_TYPES : EVENT_TYPES), ...types.filter(type => !isKnown(type))]
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

function WhenLow({ value: { only_when_low: low }, errors, onChange }: FieldsProps) {
  return (
    <Stack gap="xs">
      <Checkbox
        label={fields.onlyWhenLow}
        description={fields.aboutLow}
        checked={low !== null}
        onChange={({ currentTarget: { checked } }) =>
          onChange({ only_when_low: checked ? { units: '', share: '' } : null })
        }
      />
      {low !== null && (
        <Group gap="sm" ml={26} align="flex-start">
          <TextField
            label={fields.lowUnits}
            value={low.units}
            onChange={units => onChange({ only_when_low: { ...low, units } })}
            error={errors.at('only_when_low')}
            isNumber
          />
          <TextField
            label={fields.lowShare}
            value={low.share}
            onChange={share => onChange({ only_when_low: { ...low, share } })}
            error={errors.at('only_when_low') !== undefined}
            isNumber
          />
        </Group>
      )}
    </Stack>
  )
}

function Users({ value: { user_ids }, errors, onChange }: FieldsProps) {
  return (
    <>
      <RadioField
        label={fields.users}
        value={user_ids === null ? 'all' : 'some'}
        onChange={choice => onChange({ user_ids: choice === 'all' ? null : [] })}
        choices={['all', 'some']}
        labels={{ all: fields.allUsers, some: fields.someUsers }}
      />
      {user_ids !== null && (
        <UsersField
          label={fields.whichUsers}
          about={fields.aboutUsers}
          value={user_ids}
          onChange={users => onChange({ user_ids: [...users] })}
          error={errors.at('user_ids')}
        />
      )}
    </>
  )
}

const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${hour}:00` }))
const USUAL_HOUR = 9

function When({ value: { digest }, errors, onChange }: FieldsProps) {
  return (
    <Stack gap="xs">
      <RadioField
        label={fields.digest}
        value={digest === null ? 'once' : 'daily'}
        onChange={choice =>
          onChange({ digest: choice === 'once' ? null : { hour: USUAL_HOUR, time_zone: LOCAL_ZONE } })
        }
        choices={['once', 'daily']}
        labels={{ once: fields.atOnce, daily: fields.daily }}
      />
      {digest !== null && (
        <Group gap="sm" ml={26} align="flex-start">
          <NativeSelect
            label={fields.hour}
            data={HOURS}
            value={String(digest.hour)}
            onChange={({ currentTarget: { value } }) => onChange({ digest: { ...digest, hour: Number(value) } })}
          />
          <ZoneField
            label={fields.zone}
            value={digest.time_zone}
            onChange={time_zone => onChange({ digest: { ...digest, time_zone } })}
            error={errors.at('digest')}
          />
        </Group>
      )}
    </Stack>
  )
}
