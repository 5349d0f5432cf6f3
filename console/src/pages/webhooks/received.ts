import type { WebhookKind } from '../../../../src/domain/webhooks/webhook.ts'
import type { Api } from '../../api/types.ts'
import { formatList } from '../../formats.ts'
import { type Low, lowIn, type WebhookInput } from '../../model/webhook-form.ts'
import { texts } from '../../texts/texts.ts'

const { received: words, fields } = texts.webhooks

/** What a webhook receives, of which users and when, in words. */
export function receivedText(
  kind: WebhookKind,
  settings: Pick<WebhookInput, 'types' | 'user_ids' | 'only_when_low' | 'digest'>,
): string {
  const { types, user_ids, digest } = settings
  if (types?.length === 0 || user_ids?.length === 0) return words.nothing
  const what = types === null ? words.all : formatList(types.map(nameOf))
  const when = digest === null || kind === 'webhook' ? words.atOnce : words.daily(digest.hour, digest.time_zone)
  const line = words.line(words.of(what, user_ids?.length ?? null), when)
  const low = lowIn(settings)
  return low === null ? line : `${line} ${words.onlyWhenLow(textOfLow(low))}`
}

const textOfLow = ({ units, share }: Low): string => words.low(units, share)

/** Types that this version does not know have their own name. */
function nameOf(type: string): string {
  return isNamed(type) ? words.types[type] : type
}

function isNamed(type: string): type is keyof typeof words.types {
  return Object.hasOwn(words.types, type)
}

/* Settings in the history. Records of earlier versions lack some. */

export const usersText = (ids: readonly number[] | null | undefined): string => ids?.join(', ') ?? fields.allUsers

export const digestText = (digest: Api['Webhook']['digest'] | undefined): string =>
  digest ? words.daily(digest.hour, digest.time_zone) : words.atOnce

export const lowText = (low: Api['Webhook']['only_when_low'] | undefined): string | null =>
  low ? textOfLow({ units: low.units ?? null, share: low.share ?? null }) : null
