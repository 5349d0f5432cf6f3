import { Anchor, Button, Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { WEBHOOK_KINDS } from '../../../../src/domain/webhooks/webhook.ts'
import type { Api } from '../../api/types.ts'
import { Form } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { PageTitle } from '../../components/page-title.tsx'
import { useUnsavedInput } from '../../components/unsaved-input.ts'
import { isSame } from '../../model/quota-form.ts'
import { destinationOf } from '../../model/webhook.ts'
import { typesAfter, type WebhookInput, webhookRequest } from '../../model/webhook-form.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { FIELDS, WebhookFields } from './fields.tsx'
import { Secret } from './secret.tsx'
import classes from './webhook.module.css'
import { TestEvent } from './webhook-status.tsx'

const { creation } = texts.webhooks
const BLANK: WebhookInput & Pick<Api['Webhook'], 'kind'> = {
  kind: 'webhook',
  url: '',
  addresses: [],
  language: 'en',
  user_ids: null,
  types: null,
  only_when_low: null,
  digest: null,
  description: null,
}

/** Creates a webhook and shows its secret. */
export default function NewWebhook() {
  const [created, setCreated] = useState<Api['WebhookWithSecret'] | null>(null)
  return created === null ? <Creation onCreated={setCreated} /> : <Created webhook={created} />
}

function Creation({ onCreated }: { onCreated: (webhook: Api['WebhookWithSecret']) => void }) {
  const [value, setValue] = useState(BLANK)
  const create = useChange('POST /admin/webhooks', onCreated)
  const errors = fieldErrors(create.error, FIELDS, texts.webhooks.fields.errors)
  useUnsavedInput(!isSame(value, BLANK))

  function chooseKind(choice: string) {
    const kind = WEBHOOK_KINDS.find(known => known === choice) ?? 'webhook'
    setValue({ ...value, kind, types: typesAfter(value.types, value.kind, kind) })
  }
  return (
    <>
      <PageTitle title={creation.title} about={creation.about} />
      <Form
        sending={create}
        rest={errors.rest}
        onSubmit={() => create.mutate({ body: webhookRequest(value) })}
        submit={creation.submit}
        beside={
          <Button component={Link} href="/webhooks" variant="default">
            {creation.cancel}
          </Button>
        }
        maw="40rem"
      >
        <Radio.Group
          label={texts.webhooks.fields.kind}
          value={value.kind}
          error={errors.at('kind')}
          onChange={chooseKind}
        >
          <Stack gap={10} mt={4}>
            {WEBHOOK_KINDS.map(kind => (
              <Radio key={kind} value={kind} {...texts.webhooks.fields.kinds[kind]} />
            ))}
          </Stack>
        </Radio.Group>
        <WebhookFields
          kind={value.kind}
          value={value}
          errors={errors}
          onChange={change => setValue({ ...value, ...change })}
        />
      </Form>
    </>
  )
}

function Created({ webhook }: { webhook: Api['WebhookWithSecret'] }) {
  return (
    <>
      <PageTitle title={creation.created} about={<bdi>{destinationOf(webhook)}</bdi>} />
      <div className={classes.form}>
        {webhook.secret !== null && <Secret secret={webhook.secret} />}
        <TestEvent id={webhook.id} />
        <Anchor component={Link} href={`/webhooks/${webhook.id}`} size="sm" underline="always">
          {webhook.secret === null ? creation.goOnWithout : creation.goOn}
        </Anchor>
      </div>
    </>
  )
}
