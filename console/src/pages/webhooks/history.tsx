import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import rows from '../../components/data-table.module.css'
import { RecordedChanges, useChangesQuery } from '../../components/recorded-changes.tsx'
import { pageOf } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { digestText, lowText, usersText } from './received.ts'

type Webhook = Api['Webhook']
type Recorded = NonNullable<Api['WebhookChange']['before']>
type Change = Pick<Api['WebhookChange'], 'before' | 'after'> & { action: Api['AuditEntry']['action'] }

const { fields, history: words, list } = texts.webhooks

/** Who changed the webhook, when, and from what to what. */
export default function History({ webhook: { id } }: { webhook: Webhook }) {
  const changes = useQuery(pageOf('GET /admin/webhooks/{id}/history', { id, query: useChangesQuery() }))
  return (
    <RecordedChanges page={changes}>
      {change => (
        <>
          {words.actions[change.action]}
          <Differences change={change} />
        </>
      )}
    </RecordedChanges>
  )
}

/** The settings, as texts. Records of earlier versions lack some. */
const SETTINGS: readonly [name: string, textOf: (webhook: Recorded) => string | null | undefined][] = [
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
export function Differences({ change: { action, before, after } }: { change: Change }) {
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
