import { Button, NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { queryOf, useChange } from '../../queries/calls.ts'
import { language as ownLanguage } from '../../texts/language.ts'
import { texts } from '../../texts/texts.ts'
import { Form } from '../form.tsx'
import { fieldErrors } from '../form-errors.ts'
import { Section } from '../section.tsx'
import { TextField } from '../text-field.tsx'

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
      <Settings key={`${data.email} ${data.language}`} saved={data} />
    </Section>
  )
}

function Settings({ saved }: { saved: Api['Notifications'] }) {
  const [email, setEmail] = useState(saved.email ?? saved.profile_email ?? '')
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]>(saved.language ?? ownLanguage)
  const setting = useChange('PUT /quota/notifications')
  const stopping = useChange('DELETE /quota/notifications')
  const errors = fieldErrors(setting.error, FIELDS, words.errors)
  const isConfirmed = saved.status === 'confirmed' && email === saved.email

  function submit() {
    stopping.reset()
    setting.mutate({ body: { email, language } })
  }
  return (
    <Form
      sending={setting}
      rest={errors.rest ?? stopping.error}
      onSubmit={submit}
      submit={isConfirmed ? words.save : words.send}
      beside={
        saved.email !== null && (
          <Button variant="default" loading={stopping.isPending} onClick={() => stopping.mutate({})}>
            {words.stop}
          </Button>
        )
      }
      maw={420}
    >
      <Text size="sm" role="status">
        {saved.status !== 'off' && words.statuses[saved.status](saved.email ?? '')}
      </Text>
      <TextField
        label={words.email}
        type="email"
        autoComplete="email"
        value={email}
        error={errors.at('email')}
        onChange={setEmail}
      />
      <NativeSelect
        label={words.language}
        value={language}
        data={LANGUAGES.map(value => ({ value, label: words.languages[value] }))}
        onChange={event => setLanguage(LANGUAGES.find(one => one === event.currentTarget.value) ?? language)}
      />
    </Form>
  )
}
