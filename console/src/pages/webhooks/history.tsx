import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import { timeColumn } from '../../components/columns.tsx'
import { CursorPager } from '../../components/cursor-pager.tsx'
import rows from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor } from '../../components/values.tsx'
import { cursor } from '../../model/url-parameters.ts'
import { webhookHistoryQuery } from '../../queries/webhooks.ts'
import { texts } from '../../texts/texts.ts'

type Change = Api['WebhookChange']

const STATE = { cursor }
const { history: words } = texts.webhooks

/** Who changed the webhook, when, and from what to what. */
export default function History({ webhook: { id } }: { webhook: Api['Webhook'] }) {
  const [state, change] = useUrlState(STATE)
  const changes = useQuery(webhookHistoryQuery(id, state.cursor))
  return (
    <Loaded query={changes} loading={<Loading rows={4} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          <DataTable
            label={words.label}
            columns={COLUMNS}
            rows={items}
            keyOf={({ version }) => version}
            isStale={changes.isPlaceholderData}
          />
          <CursorPager cursor={state.cursor} next={next_cursor} onCursor={cursor => change({ cursor })} />
        </>
      )}
    </Loaded>
  )
}

const COLUMNS: readonly Column<Change>[] = [
  {
    label: words.columns.change,
    cell: change => (
      <>
        {words.actions[change.action]}
        <Differences change={change} />
      </>
    ),
  },
  { label: words.columns.by, kind: 'name', cell: ({ actor }) => <Actor subject={actor} /> },
  timeColumn(words.columns.at, ({ at }) => at),
  {
    label: words.columns.request,
    kind: 'name',
    cell: ({ request_id }) => (request_id === null ? '–' : <Code>{request_id}</Code>),
  },
]

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
