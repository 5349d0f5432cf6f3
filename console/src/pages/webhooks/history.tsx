import type { Api } from '../../api/types.ts'
import rows from '../../components/data-table.module.css'
import { RecordedChanges } from '../../components/recorded-changes.tsx'
import { texts } from '../../texts/texts.ts'

type Change = Api['WebhookChange']

const { history: words } = texts.webhooks

/** Who changed the webhook, when, and from what to what. */
export default function History({ webhook: { id } }: { webhook: Api['Webhook'] }) {
  return (
    <RecordedChanges of="webhooks" id={id}>
      {change => (
        <>
          {words.actions[change.action]}
          <Differences change={change} />
        </>
      )}
    </RecordedChanges>
  )
}

/** The settings that an update changed. The other changes are named by their action. */
function Differences({ change: { action, before, after } }: { change: Change }) {
  if (action !== 'updated' || before === null || after === null) return null
  const { fields } = texts.webhooks
  const differences = [
    { name: fields.url, old: before.url, now: after.url },
    { name: fields.events, old: eventsText(before.types), now: eventsText(after.types) },
    { name: fields.description, old: before.description, now: after.description },
    { name: fields.enabled, old: yesOrNo(before.enabled), now: yesOrNo(after.enabled) },
  ].filter(({ old, now }) => old !== now)
  return differences.map(({ name, old, now }) => (
    <div key={name} className={`${rows.about} ${rows.name}`}>
      {name}: <bdi>{old ?? '–'}</bdi> → <bdi>{now ?? '–'}</bdi>
    </div>
  ))
}

function eventsText(types: readonly string[] | null | undefined): string {
  return types?.join(', ') ?? texts.webhooks.list.allEvents
}

function yesOrNo(value: boolean | undefined): string {
  return value ? words.yes : words.no
}
