import { Button, Group, Progress as ProgressBar, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { csvLine } from '../../../../../src/domain/basics/csv.ts'
import { FIRST_OF_KIND } from '../../../../../src/domain/basics/row-faults.ts'
import { Announcement } from '../../../components/announcement.tsx'
import table from '../../../components/data-table.module.css'
import { type Column, DataTable } from '../../../components/data-table.tsx'
import { saveFile } from '../../../components/download.ts'
import { ErrorNotice } from '../../../components/error-notice.tsx'
import { type CountName, type Failure, NOTHING_DONE, type Progress, whyOf } from '../../../model/job.ts'
import type { Job } from '../../../queries/many.ts'
import { texts } from '../../../texts/texts.ts'
import classes from './jobs.module.css'
import { useJob } from './use-job.ts'

interface JobViewProps {
  job: Job
  /** How many rows or quotas there are. */
  total: number
  /** The beginning of the name of the report's file. */
  reportName: string
  /** Whether it only asks what would change. */
  isDryRun?: boolean
  /** Called when the job has stopped, done or not: what other pages show may be stale. */
  onEnd?: (isDone: boolean, error: Error | null) => void
  /** The result so far in words; how many were created, changed and so on if left out. */
  summary?: (progress: Progress) => string
  /** The report as CSV; the totals and failures if left out. */
  report?: (progress: Progress) => string
  /** What to do next, when it is done. */
  children: (result: Progress) => ReactNode
}

const { jobs } = texts.manyQuotas

/** Runs a job and shows how far it is, what failed and why. It can be stopped and continued. */
export function JobView({ job, total, reportName, onEnd = () => {}, children, ...more }: JobViewProps) {
  const { isDryRun = false, summary, report } = more
  const words = isDryRun ? { ...jobs.counts, ...jobs.would } : jobs.counts
  const { state, isBusy, progress, error, pause, resume } = useJob(job, NOTHING_DONE, onEnd)
  const { done, failed, failures } = progress
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm" role="status">
        {(isDryRun ? jobs.dryRunStates : jobs.states)[state]}
      </Text>
      <ProgressBar
        value={total === 0 ? 100 : Math.min(100, (done / total) * 100)}
        animated={state === 'running'}
        color={state === 'failed' ? 'red' : 'indigo'}
        aria-label={jobs.progress(done, total)}
      />
      {summary === undefined ? (
        <Counts progress={progress} total={total} words={words} />
      ) : (
        <Text size="sm">{summary(progress)}</Text>
      )}
      {isBusy && <Announcement text={jobs.progress(done, total)} />}
      {state === 'waiting' && error !== null && <Text size="sm">{jobs.waiting(error.message)}</Text>}
      {state === 'failed' && error !== null && <ErrorNotice variant="action" error={error} />}
      <Failures failures={failures} failed={failed} />
      <Group gap="xs">
        {isBusy && (
          <Button variant="default" onClick={pause}>
            {jobs.stop}
          </Button>
        )}
        {(state === 'paused' || state === 'failed') && <Button onClick={resume}>{jobs.continue}</Button>}
        {!isBusy && (
          <Button
            variant="default"
            onClick={() => saveFile(`${reportName}.csv`, [report?.(progress) ?? totalsReport(progress, words)])}
          >
            {jobs.report}
          </Button>
        )}
        {state === 'done' && children(progress)}
      </Group>
    </Stack>
  )
}

const COUNT_NAMES: readonly CountName[] = ['created', 'updated', 'changed', 'unchanged']

type CountWords = typeof jobs.counts

/** How many were, or would be, created, changed and so on. */
function countsText({ counts, failed }: Progress, words: CountWords): string {
  const parts = COUNT_NAMES.flatMap(name => (counts[name] === undefined ? [] : [words[name](counts[name])]))
  return [...parts, words.failed(failed)].join(' · ')
}

function Counts({ progress, total, words }: { progress: Progress; total: number; words: CountWords }) {
  return (
    <Text size="sm">
      {jobs.progress(progress.done, total)} · {countsText(progress, words)}
    </Text>
  )
}

/** Rows that the page shows at first, and that each press adds: a browser is slow with tens of thousands. */
export const FIRST_SHOWN = 20
export const MORE_SHOWN = 500

/** A reason that many share is one row, with the places behind it. */
const MIN_GROUP = 4

interface FailuresProps {
  failures: readonly Failure[]
  failed: number
  label?: string
}

/** What could not be changed, and why. */
export function Failures({ failures, failed, label = jobs.failures }: FailuresProps) {
  const [shown, setShown] = useState(FIRST_SHOWN)
  if (failures.length === 0) return null
  const rows = [...Map.groupBy(failures, ({ reason, kind }) => kind?.key ?? reason).values()].flatMap(alike =>
    alike.length < MIN_GROUP
      ? alike.map(first => ({ first, all: [first] }))
      : alike.slice(0, 1).map(first => ({ first, all: alike })),
  )
  return (
    <div className={classes.texts}>
      <DataTable
        label={label}
        columns={FAILURE_COLUMNS}
        rows={rows.slice(0, shown)}
        keyOf={({ first }) => `${first.place} ${first.reason} ${first.detail}`}
      />
      <ShowMore hidden={rows.length - shown} onMore={more => setShown(shown + more)} />
      {failed > failures.length && <p className={table.more}>{jobs.notListed}</p>}
    </div>
  )
}

/** Failures for one reason: a few, or too many for a row each. */
interface FailureRow {
  first: Failure
  all: readonly Failure[]
}

const FAILURE_COLUMNS: readonly Column<FailureRow>[] = [
  { label: jobs.place, cell: ({ first, all }) => (all.length === 1 ? first.place : <Places failures={all} />) },
  {
    label: jobs.reason,
    cell: ({ first, all }) => (all.length === 1 ? whyOf(first) : (first.kind?.label ?? first.reason)),
  },
]

/** How many there are, and the first ones of a file. */
function summaryOf(failures: readonly Failure[]): string {
  const first = failures.slice(0, FIRST_OF_KIND).flatMap(({ place, kind }) => (kind === undefined ? [] : [place]))
  const count = jobs.entries(failures.length)
  return first.length === 0 ? count : jobs.first(count, first.join('; '))
}

/** How many failures have a reason; opened, which these are. */
function Places({ failures }: { failures: readonly Failure[] }) {
  const [isOpen, setOpen] = useState(false)
  const [shown, setShown] = useState(FIRST_SHOWN)
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{summaryOf(failures)}</summary>
      {isOpen && (
        <>
          <ul className={classes.places}>
            {failures.slice(0, shown).map(({ place, detail }) => (
              <li key={`${place} ${detail}`}>{detail === undefined ? place : jobs.placeDetail(place, detail)}</li>
            ))}
          </ul>
          <ShowMore hidden={failures.length - shown} onMore={more => setShown(shown + more)} />
        </>
      )}
    </details>
  )
}

interface ShowMoreProps {
  hidden: number
  onMore: (count: number) => void
  isLoading?: boolean
}

/** Shows further rows of a long list. Nothing if there are none. */
export function ShowMore({ hidden, onMore, isLoading = false }: ShowMoreProps) {
  if (hidden <= 0) return null
  const count = Math.min(MORE_SHOWN, hidden)
  return (
    <Button variant="subtle" size="xs" loading={isLoading} onClick={() => onMore(count)}>
      {jobs.showMore(count)}
    </Button>
  )
}

/** The result and all listed failures as CSV. */
function totalsReport(progress: Progress, words: CountWords): string {
  return [
    csvLine([jobs.place, jobs.reason]),
    ...progress.failures.map(failure => csvLine([failure.place, whyOf(failure)])),
    csvLine([jobs.total(progress.done), countsText(progress, words)]),
  ].join('')
}
