import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { CursorPager } from '../../components/cursor-pager.tsx'
import table from '../../components/data-table.module.css'
import { saveFile } from '../../components/download.ts'
import { Icon } from '../../components/icon.tsx'
import { KnownFilters } from '../../components/known-filters.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Pager } from '../../components/pager.tsx'
import { COLUMN_IDS, type ColumnId, DEFAULT_COLUMNS } from '../../components/quota-table.tsx'
import { useStored } from '../../components/stored.ts'
import { useMeaningless, useUrlState } from '../../components/url-state.ts'
import type { BulkAction, Selection } from '../../model/bulk-change.ts'
import { FILTERS, filterCount, filtersOf, LIST_STATE, type ListState } from '../../model/quota-lists.ts'
import { exportQuotas, quotaListQuery } from '../../queries/quotas.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import type { Confirmed } from './bulk/bulk-preview.tsx'
import { type Unfinished, unfinishedBulk } from './bulk/unfinished.ts'
import { QuotaFilters } from './filters.tsx'
import classes from './quotas.module.css'
import { Rows } from './rows.tsx'
import { useSelection } from './selection.ts'
import { Views } from './views.tsx'

const ColumnsPanel = lazy(() => import('./columns-panel.tsx'))
const ExportButton = lazy(async () => ({ default: (await import('../../components/export-button.tsx')).ExportButton }))
const BulkPanel = lazy(() => import('./bulk/bulk-panel.tsx'))

/** A change of many quotas that is open, with what was selected when it was opened. */
interface OpenBulk {
  action: BulkAction
  selection: Selection
  /** What was confirmed before a reload, and goes on. */
  confirmed?: Confirmed
}

/** The columns of the storage of the browser; what is not known there is left out. */
function readTable(stored: unknown): { columns: readonly ColumnId[] } {
  const columns = typeof stored === 'object' && stored !== null && 'columns' in stored ? stored.columns : null
  return { columns: Array.isArray(columns) ? COLUMN_IDS.filter(id => columns.includes(id)) : DEFAULT_COLUMNS }
}

/** The list of all quotas. */
export default function Quotas() {
  const [state, change] = useUrlState(LIST_STATE)
  const [{ columns }, setTable] = useStored('sms-quota.quota-table', readTable)
  const selection = useSelection(filtersOf(state))
  const [bulk, setBulk] = useState<OpenBulk | null>(null)
  // A changed filter starts at the first page.
  const select = (parts: Partial<ListState>) => change({ page: 1, cursor: null, ...parts })
  return (
    <>
      <Head state={state} columns={columns} onColumns={columns => setTable({ columns })} />
      <Views state={state} />
      <QuotaFilters state={state} onChange={select} />
      {bulk === null && (
        <UnfinishedNotice
          onContinue={({ action, confirmed }) => setBulk({ action, confirmed, selection: selection.current })}
        />
      )}
      {bulk !== null && (
        <div ref={intoView} tabIndex={-1} className={classes.bulkPanel}>
          <Suspense fallback={<Loading rows={5} height={36} />}>
            <BulkPanel
              {...bulk}
              onClose={() => {
                setBulk(null)
                selection.clear()
              }}
            />
          </Suspense>
        </div>
      )}
      <KnownFilters readers={FILTERS}>
        <List
          {...{ state, select, columns, selection }}
          onBulk={bulk === null ? action => setBulk({ action, selection: selection.current }) : null}
        />
      </KnownFilters>
    </>
  )
}

/** Says that a reload has interrupted a change of many quotas, which can go on. */
function UnfinishedNotice({ onContinue }: { onContinue: (unfinished: Unfinished) => void }) {
  const { subject } = useCaller()
  const [unfinished, setUnfinished] = useState(() => unfinishedBulk.of(subject))
  if (unfinished === null) return null
  const { about, proceed, dismiss } = texts.quotas.unfinished
  return (
    <section className={classes.selection} aria-label={about(unfinished.confirmed.total)}>
      <span>{about(unfinished.confirmed.total)}</span>
      <Button size="xs" onClick={() => onContinue(unfinished)}>
        {proceed}
      </Button>
      <Button
        variant="default"
        size="xs"
        onClick={() => {
          unfinishedBulk.forget()
          setUnfinished(null)
        }}
      >
        {dismiss}
      </Button>
    </section>
  )
}

/** The panel opens above the list, and the buttons that open it stand below. */
function intoView(element: HTMLElement | null): void {
  element?.focus()
}

interface HeadProps {
  state: ListState
  columns: readonly ColumnId[]
  onColumns: (columns: readonly ColumnId[]) => void
}

/** The title with the actions of the page. */
function Head({ state, columns, onColumns }: HeadProps) {
  const [isChoosing, setChoosing] = useState(false)
  const caller = useCaller()
  const hasUnknown = useMeaningless(FILTERS).length > 0
  return (
    <>
      <PageTitle title={texts.quotas.title} about={texts.quotas.about}>
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="columns" size={16} />}
          aria-expanded={isChoosing}
          onClick={() => setChoosing(!isChoosing)}
        >
          {texts.quotas.options.open}
        </Button>
        {may(caller, 'export') && !hasUnknown && (
          <Suspense fallback={<ExportSoon />}>
            <ExportButton
              words={texts.quotas.exporting}
              onExport={(signal, onCount) => exportQuotas(filtersOf(state), signal, onCount, saveFile)}
            />
          </Suspense>
        )}
        {may(caller, 'change') && (
          <>
            <Button
              component={Link}
              href="/quotas/import"
              variant="default"
              size="xs"
              leftSection={<Icon name="upload" size={16} />}
            >
              {texts.quotas.import}
            </Button>
            <Button component={Link} href="/quotas/new" size="xs" leftSection={<Icon name="plus" size={16} />}>
              {texts.quotas.create}
            </Button>
          </>
        )}
      </PageTitle>
      {isChoosing && (
        <Suspense>
          <ColumnsPanel columns={columns} onChange={onColumns} />
        </Suspense>
      )}
    </>
  )
}

/** Takes the place of the export until that is loaded. */
function ExportSoon() {
  return (
    <Button variant="default" size="xs" leftSection={<Icon name="download" size={16} />} disabled>
      {texts.quotas.exporting.button}
    </Button>
  )
}

interface ListProps {
  state: ListState
  /** Changes the list; to its first page, unless that is said too. */
  select: (parts: Partial<ListState>) => void
  columns: readonly ColumnId[]
  selection: ReturnType<typeof useSelection>
  /** Begins a change of the selection; null while another one is open. */
  onBulk: ((action: BulkAction) => void) | null
}

function List({ state, select, columns, selection, onBulk }: ListProps) {
  const list = useQuery(quotaListQuery(state))
  return (
    <Loaded query={list} loading={<Loading rows={Math.min(state.page_size, 12)} height={44} />}>
      {({ items, total = null, total_at_least, next_cursor }) => (
        <>
          {items.length === 0 ? (
            <EmptyState title={texts.quotas.empty.title}>{emptyHint(state, total, next_cursor)}</EmptyState>
          ) : (
            <Rows {...{ state, select, columns, selection, onBulk, items, total }} isStale={list.isPlaceholderData} />
          )}
          {total === null ? (
            <>
              {total_at_least !== undefined && <p className={table.more}>{texts.quotas.atLeast(total_at_least)}</p>}
              <CursorPager
                cursor={state.cursor}
                next={next_cursor}
                onCursor={cursor => select({ cursor })}
                labels={[texts.quotas.pages.first, texts.quotas.pages.next]}
              />
            </>
          ) : (
            <Pager page={state.page} page_size={state.page_size} total={total} onPage={page => select({ page })} />
          )}
        </>
      )}
    </Loaded>
  )
}

function emptyHint(state: ListState, total: number | null, next: string | null): string {
  const { goOn, pastEnd, noMatch, unknownUser, createFirst } = texts.quotas.empty
  if (next !== null) return goOn
  if (total !== null && total > 0) return pastEnd
  if (state.user_id !== null && filterCount(state) === 1) return unknownUser(state.user_id)
  return filterCount(state) > 0 ? noMatch : createFirst
}
