import type { Api } from '../../api/types.ts'
import rows from '../../components/data-table.module.css'
import type { Change } from '../../model/audit.ts'
import { texts } from '../../texts/texts.ts'
import { digestText, lowText, usersText } from './received.ts'

const { fields, history: words, list } = texts.webhooks

/** The settings, as texts. Records of earlier versions lack some. */
const SETTINGS: readonly [name: string, textOf: (webhook: Partial<Api['Webhook']>) => string | null | undefined][] = [
  [fields.url, ({ url }) => url],
  [fields.addresses, ({ addresses }) => addresses?.join(', ')],
  [fields.language, ({ language = 'en' }) => fields.languages[language]],
  [fields.events, ({ types }) => types?.join(', ') ?? list.allEvents],
  [fields.users, ({ user_ids }) => usersText(user_ids)],
  [fields.onlyWhenLow, ({ only_when_low }) => lowText(only_when_low)],
  [fields.digest, ({ digest }) => digestText(digest)],
  [fields.description, ({ description }) => description],
  [fields.enabled, ({ enabled }) => (enabled ? words.yes : words.no)],
]

/** The settings that an update changed. The other changes are named by their action. */
export function WebhookChanges({ change: { action, before, after } }: { change: Change }) {
  if (action !== 'updated' || before === null || after === null) return null
  const differences = SETTINGS.map(([name, textOf]) => ({
    name,
    old: textOf(before) ?? '–',
    now: textOf(after) ?? '–',
  })).filter(({ old, now }) => old !== now)
  return differences.map(({ name, old, now }) => (
    <div key={name} className={`${rows.about} ${rows.name}`}>
      {name}: <bdi>{old}</bdi> → <bdi>{now}</bdi>
    </div>
  ))
}
