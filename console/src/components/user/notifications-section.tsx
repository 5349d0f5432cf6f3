import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { queryOf, useChange } from '../../queries/calls.ts'
import { language as ownLanguage } from '../../texts/language.ts'
import { texts } from '../../texts/texts.ts'
import { ErrorNotice } from '../error-notice.tsx'
import { fieldErrors, useFocusFirstError } from '../form-errors.ts'
import { Section } from '../section.tsx'

const words = texts.notifications
const FIELDS = ['email', 'language'] as const
const LANGUAGES = ['en', 'de'] as const

/** Where messages about the own quotas go; nothing while the service sends none. */
export default function NotificationsSection() {
  const { data } = useQuery(queryOf('GET /quota/notifications', {}))
  if (data === undefined || data.status === 'off') return null
  return (
    <Section title={words.title}>
      <Text size="sm" c="dimmed" mb="sm">
        {words.about}
      </Text>
      {/* Another address that was set elsewhere replaces what is typed. */}
      <Form key={`${data.email} ${data.language}`} saved={data} />
    </Section>
  )
}

function Form({ saved }: { saved: Api['Notifications'] }) {
  const element = useRef<HTMLFormElement>(null)
  const [email, setEmail] = useState(saved.email ?? saved.profile_email ?? '')
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]>(saved.language ?? ownLanguage)
  const setting = useChange('PUT /quota/notifications')
  const stopping = useChange('DELETE /quota/notifications')
  const errors = fieldErrors(setting.error, FIELDS, words.errors)
  useFocusFirstError(element, setting.error)
  const isConfirmed = saved.status === 'confirmed' && email === saved.email

  function submit(event: FormEvent) {
    event.preventDefault()
    stopping.reset()
    if (!setting.isPending) setting.mutate({ body: { email, language } })
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md" maw={420}>
        <Text size="sm" role="status">
          {saved.status !== 'off' && words.statuses[saved.status](saved.email ?? '')}
        </Text>
        <TextInput
          label={words.email}
          type="email"
          autoComplete="email"
          value={email}
          error={errors.at('email')}
          onChange={event => setEmail(event.currentTarget.value)}
        />
        <NativeSelect
          label={words.language}
          value={language}
          data={LANGUAGES.map(value => ({ value, label: words.languages[value] }))}
          onChange={event => setLanguage(LANGUAGES.find(one => one === event.currentTarget.value) ?? language)}
        />
        <ErrorNotice variant="action" error={errors.rest ?? stopping.error} />
        <Group gap="sm">
          <Button type="submit" loading={setting.isPending}>
            {isConfirmed ? words.save : words.send}
          </Button>
          {saved.email !== null && (
            <Button variant="default" loading={stopping.isPending} onClick={() => stopping.mutate({})}>
              {words.stop}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
