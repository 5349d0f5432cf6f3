import { Button, Group, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { queryClient } from '../../api/query-client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Form, SavedState } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { Section } from '../../components/section.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { Timestamp } from '../../components/values.tsx'
import { destinationOf } from '../../model/webhook.ts'
import { changedSettings, hasSecretUrl, inputOf, settingsOf, type WebhookInput } from '../../model/webhook-form.ts'
import { useChange } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { FIELDS, WebhookFields } from './fields.tsx'
import { receivedText } from './received.ts'
import { Secret } from './secret.tsx'
import classes from './webhook.module.css'

type Webhook = Api['Webhook']

const { settings: words, rotation, removal } = texts.webhooks

/** The settings of a webhook; what cannot be undone is apart. */
export default function Settings({ webhook }: { webhook: Webhook }) {
  if (!may(useCaller(), 'change')) return <ReadOnly webhook={webhook} />
  return (
    <div className={classes.form}>
      <Changeable webhook={webhook} />
      <section className={classes.danger} aria-label={words.danger}>
        {webhook.kind === 'webhook' && <RotateSecret webhook={webhook} />}
        <DeleteWebhook id={webhook.id} />
      </section>
    </div>
  )
}

function ReadOnly({ webhook }: { webhook: Webhook }) {
  const { kind, types, description } = webhook
  const { fields, list } = texts.webhooks
  return (
    <Section isFramed title={words.title}>
      <dl className={classes.facts}>
        <dt>{fields.url}</dt>
        <dd>
          <bdi>{destinationOf(webhook)}</bdi>
        </dd>
        <dt>{fields.events}</dt>
        <dd>{types?.join(', ') ?? list.allEvents}</dd>
        <dt>{fields.receives}</dt>
        <dd>{receivedText(kind, inputOf(webhook))}</dd>
        <dt>{fields.description}</dt>
        <dd>
          <bdi>{description ?? '–'}</bdi>
        </dd>
      </dl>
    </Section>
  )
}

/** Only changed fields are sent, so that concurrent changes of other fields are kept. */
function Changeable({ webhook }: { webhook: Webhook }) {
  const [changes, setChanges] = useState<Partial<WebhookInput>>({})
  const save = useChange('PUT /admin/webhooks/{id}', () => setChanges({}))
  const errors = fieldErrors(save.error, FIELDS, texts.webhooks.fields.errors)
  const isChanged = Object.keys(changes).length > 0
  const isSecret = hasSecretUrl(webhook.kind)
  useUnsavedInput(isChanged)

  function change(parts: Partial<WebhookInput>) {
    setChanges(changedSettings(webhook.kind, { ...changes, ...parts }))
    if (save.isSuccess) save.reset()
  }
  function discard() {
    setChanges({})
    save.reset()
  }
  return (
    <Section isFramed title={words.title}>
      <Form
        sending={save}
        rest={errors.rest}
        onSubmit={() => isChanged && save.mutate({ id: webhook.id, body: settingsOf(changes) })}
        submit={words.save}
        isDisabled={!isChanged}
        beside={<SavedState words={words} isSaved={save.isSuccess} onDiscard={isChanged ? discard : null} />}
      >
        <WebhookFields
          kind={webhook.kind}
          shortenedUrl={isSecret ? webhook.url : null}
          value={{ ...inputOf(webhook), ...(isSecret && { url: '' }), ...changes }}
          errors={errors}
          onChange={change}
        />
      </Form>
    </Section>
  )
}

/** Rotates the secret of a webhook; both secrets sign for one day. */
function RotateSecret({ webhook: { id, previous_until } }: { webhook: Webhook }) {
  const [isConfirming, setConfirming] = useState(false)
  const rotate = useChange('POST /admin/webhooks/{id}/rotate-secret', () => setConfirming(false))
  const secret = isConfirming ? undefined : rotate.data?.secret
  return (
    <Section title={rotation.title}>
      <div className={classes.stack}>
        <Text size="sm" c="dimmed">
          {previous_until === null ? rotation.about : rotation.twoSign(<Timestamp at={previous_until} />)}
        </Text>
        {secret && <Secret key={secret} secret={secret} />}
        {isConfirming ? (
          <>
            <Text size="sm" c="dimmed">
              {previous_until === null ? rotation.confirm : rotation.confirmAgain}
            </Text>
            <Group gap="sm">
              <Button size="xs" color="red" loading={rotate.isPending} onClick={() => rotate.mutate({ id })}>
                {rotation.create}
              </Button>
              <Button variant="default" size="xs" onClick={() => setConfirming(false)}>
                {rotation.cancel}
              </Button>
            </Group>
          </>
        ) : (
          <div>
            <Button variant="outline" color="red" size="xs" onClick={() => setConfirming(true)}>
              {rotation.rotate}
            </Button>
          </div>
        )}
        <ErrorNotice variant="action" error={rotate.error} />
      </div>
    </Section>
  )
}

/** Asks for a word as a confirmation. */
function DeleteWebhook({ id }: { id: number }) {
  const [confirmation, setConfirmation] = useState('')
  const [, navigate] = useLocation()
  const remove = useChange('DELETE /admin/webhooks/{id}', () => {
    // The settings of a deleted webhook cannot be saved: changes to them must not hold the page.
    releaseInput()
    navigate('/webhooks', { replace: true })
    queryClient.removeQueries({ queryKey: ['GET /admin/webhooks/{id}', { id }] })
  })
  const isConfirmed = confirmation.trim().toLowerCase() === removal.word

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isConfirmed) remove.mutate({ id })
  }
  return (
    <Section title={removal.title}>
      <form className={classes.stack} onSubmit={submit}>
        <Text size="sm" c="dimmed">
          {removal.about}
        </Text>
        <div className={classes.copy}>
          <TextInput
            label={removal.confirm}
            size="xs"
            value={confirmation}
            autoComplete="off"
            spellCheck={false}
            onChange={event => setConfirmation(event.currentTarget.value)}
          />
          <Button
            type="submit"
            size="xs"
            color="red"
            variant="outline"
            disabled={!isConfirmed}
            loading={remove.isPending}
          >
            {removal.submit}
          </Button>
        </div>
        <ErrorNotice variant="action" error={remove.error} />
      </form>
    </Section>
  )
}
