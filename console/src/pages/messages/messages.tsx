import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { DenialDialog } from '../../components/denials/denial-dialog.tsx'
import { DenialFilterFields } from '../../components/denials/denial-filters.tsx'
import { saveFile } from '../../components/download.ts'
import { ExportButton } from '../../components/export-button.tsx'
import { ChoiceFilter, filtersOf } from '../../components/filter-fields.tsx'
import { KnownFilters } from '../../components/known-filters.tsx'
import { EmptyState, Loaded, Loading, NoRows } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { useMeaningless, useUrlState } from '../../components/url-state.ts'
import { TimeToTheSecond } from '../../components/values.tsx'
import { formatUnits } from '../../formats.ts'
import { isFiltered, NO_FILTERS } from '../../model/denial-filters.ts'
import {
  MESSAGE_FILTERS,
  MESSAGE_STATES,
  MESSAGES_STATE,
  type MessageFilters,
  type MessagesState,
} from '../../model/messages.ts'
import { allMessagesQuery, type ExportedMessages, exportMessages } from '../../queries/all-messages.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { FoundMessages } from './found-messages.tsx'
import { Histogram } from './histogram.tsx'
import { MessageTable } from './message-table.tsx'

const STATE_LABELS = { ...texts.components.reservationStates, denied: texts.messages.denied }

const hasFilter = (state: MessageFilters) => state.state !== null || isFiltered(state)

/** The messages of all users, sent and denied, newest first. */
export default function Messages() {
  const [state, change] = useUrlState(MESSAGES_STATE)
  const list = useQuery(allMessagesQuery(state))
  // A changed filter starts at the newest.
  const select = (parts: Partial<MessageFilters>) => change({ cursor: null, ...parts })
  return (
    <>
      <Head state={state} />
      <DenialFilterFields
        state={state}
        scope={null}
        onChange={select}
        isFiltered={hasFilter(state)}
        onClear={() => select({ state: null, ...NO_FILTERS })}
      >
        <ChoiceFilter
          words={texts.messages.state}
          choices={MESSAGE_STATES}
          labels={STATE_LABELS}
          {...filtersOf<MessageFilters>(state, select)('state')}
        />
      </DenialFilterFields>
      {state.id !== null && <FoundMessages id={state.id} />}
      <KnownFilters readers={MESSAGE_FILTERS}>
        <Histogram filters={state} onTime={select} />
        <Loaded query={list} loading={<Loading rows={12} height={32} />}>
          {({ rows, next, searchedUntil }) => (
            <>
              {rows.length === 0 ? (
                <NoRows
                  {...{ hasMore: next !== null, isOlder: state.cursor !== null, isFiltered: hasFilter(state) }}
                  kept={texts.denials.kept}
                  none={<EmptyState title={texts.messages.none}>{texts.messages.noneAbout}</EmptyState>}
                />
              ) : (
                <MessageTable messages={rows} isStale={list.isPlaceholderData} />
              )}
              {searchedUntil !== null && (
                <Text size="sm" c="dimmed" mt="sm">
                  {texts.messages.searched(<TimeToTheSecond at={searchedUntil} />)}
                </Text>
              )}
              <CursorPager
                cursor={state.cursor}
                next={list.isPlaceholderData ? null : next}
                onCursor={cursor => change({ cursor })}
              />
            </>
          )}
        </Loaded>
      </KnownFilters>
      <DenialDialog scope={null} denialId={state.denial} onClose={() => change({ denial: null })} />
    </>
  )
}

function Head({ state: { cursor: _cursor, denial: _denial, ...filters } }: { state: MessagesState }) {
  const mayExport = may(useCaller(), 'export')
  const hasUnknown = useMeaningless(MESSAGE_FILTERS).length > 0
  const [exported, setExported] = useState<ExportedMessages | null>(null)
  const { title, about, exporting } = texts.messages
  return (
    <PageTitle title={title} about={about}>
      {mayExport && !hasUnknown && (
        <ExportButton
          words={{ ...exporting, done: count => exporting.done(count, countsOf(exported), exported?.until ?? null) }}
          onExport={async (signal, onCount) => {
            const found = await exportMessages(filters, signal, onCount, saveFile)
            onCount(found.count)
            setExported(found)
          }}
        />
      )}
    </PageTitle>
  )
}

/** "234 Committed", "14 Denied" */
function countsOf(exported: ExportedMessages | null): string[] {
  return [...(exported?.states ?? [])].map(([state, count]) => `${formatUnits(count)} ${STATE_LABELS[state]}`)
}
