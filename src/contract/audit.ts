import Type, { type Static, type TSchema } from 'typebox'
import { WEBHOOK_ACTIONS } from '../domain/webhook.ts'
import { cursorPageOf, nullable, positive, time } from './schemas.ts'
import { Webhook } from './webhooks.ts'

/** Who changed what: the history of a webhook, and the list of all administrators' changes. */

export const WebhookAsShown = Type.Partial(Type.Object(Webhook.properties, { additionalProperties: true }), {
  $id: 'WebhookAsShown',
  description:
    'The webhook as the API showed it at the time, without its secret. Fields that were added later are missing.',
})

export const WebhookChange = Type.Object(
  {
    version: positive({ description: 'Numbers the recorded changes of the webhook, from 1.' }),
    action: Type.Enum([...WEBHOOK_ACTIONS], {
      description:
        '`disabled`: the service disabled it, because its receiver takes nothing any more. `secret_discarded`: its secret could not be decrypted and was replaced.',
    }),
    at: time(),
    actor: Type.String({ description: "The `sub` of the administrator's token; `sms-quota` for the service itself." }),
    request_id: nullable(Type.String(), {
      description: 'The `X-Request-Id` of the call; null if the service made the change by itself.',
    }),
    before: nullable(Type.Ref('WebhookAsShown#'), { description: 'null for a creation.' }),
    after: nullable(Type.Ref('WebhookAsShown#'), { description: 'null for a deletion.' }),
  },
  { $id: 'WebhookChange', description: 'A change of a webhook: who, when, from what to what.' },
)

export const WebhookHistory = cursorPageOf('WebhookChange', {
  $id: 'WebhookHistory',
  description: 'Changes of a webhook, newest first.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const AUDIT_COMPONENTS = { WebhookAsShown, WebhookChange, WebhookHistory } satisfies Record<string, TSchema>

type References = { 'WebhookAsShown#': typeof WebhookAsShown }

export type WebhookAsShown = Static<typeof WebhookAsShown>
export type WebhookChange = Static<typeof WebhookChange, References>
export type WebhookHistory = Static<typeof WebhookHistory, References & { 'WebhookChange#': typeof WebhookChange }>
