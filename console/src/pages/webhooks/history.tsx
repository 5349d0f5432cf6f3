import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import rows from '../../components/panel-table.module.css'
import { Table } from '../../components/table.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor, Timestamp } from '../../components/values.tsx'
import { cursor } from '../../model/url-parameters.ts'
import { webhookHistoryQuery } from '../../queries/webhooks.ts'
import { texts } from '../../texts/texts.ts'

type Change = Api['WebhookChange']

const STATE = { cursor }
const { history: words } = texts.webhooks
const { columns } = words

/** Who changed the webhook, when, and from what to what. */
export default function History({ webhook: { id } }: { webhook: Api['Webhook'] }) {
  const [state, change] = useUrlState(STATE)
  const changes = useQuery(webhookHistoryQuery(id, state.cursor))
  return (
    <Loaded query={changes} loading={<Loading rows={4} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          <Table
            className={`${rows.table} ${rows.cards}`}
            aria-label={words.label}
            aria-busy={changes.isPlaceholderData}
            data-stale={changes.isPlaceholderData || undefined}
          >
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{columns.change}</Table.Th>
                <Table.Th scope="col">{columns.by}</Table.Th>
                <Table.Th scope="col">{columns.at}</Table.Th>
                <Table.Th scope="col">{columns.request}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map(item => (
                <Row key={item.version} change={item} />
              ))}
            </Table.Tbody>
          </Table>
          <CursorPager cursor={state.cursor} next={next_cursor} onCursor={cursor => change({ cursor })} />
        </>
      )}
    </Loaded>
  )
}

function Row({ change }: { change: Change }) {
  const { action, actor, at, request_id } = change
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {words.actions[action]}
        <Differences change={change} />
      </Table.Th>
      <Table.Td data-label={columns.by} className={rows.name}>
        <Actor subject={actor} />
      </Table.Td>
      <Table.Td data-label={columns.at}>
        <Timestamp at={at} />
      </Table.Td>
      <Table.Td data-label={columns.request} className={rows.name}>
        {request_id === null ? '–' : <Code>{request_id}</Code>}
      </Table.Td>
    </Table.Tr>
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
