import { Button, Group, NativeSelect, Progress, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Announcement } from '../../components/announcement.tsx'
import { unitsColumn } from '../../components/columns.tsx'
import table from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Pager } from '../../components/pager.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { Timestamp } from '../../components/values.tsx'
import { countryLabel } from '../../formats.ts'
import { type BreakerValues, wrongBreakerFields } from '../../model/breaker-form.ts'
import { NOTHING_REPLAYED, type Replayed, type ReplayedPause } from '../../model/breaker-replay.ts'
import { type AskedReplay, replayJob } from '../../queries/breaker.ts'
import type { Job } from '../../queries/many.ts'
import { texts } from '../../texts/texts.ts'
import { useJob } from '../quotas/jobs/use-job.ts'
import classes from './breaker.module.css'

const words = texts.breaker.replay

/** As far back as the service replays. */
const MAX_DAYS = 14
const DAYS = Array.from({ length: MAX_DAYS }, (_, index) => index + 1)

interface Run {
  number: number
  asked: AskedReplay
  job: Job<Replayed>
}

/** What settings would have paused in the past. @param values need not be saved */
export function Replay({ values }: { values: BreakerValues }) {
  const [days, setDays] = useState(MAX_DAYS)
  const [type, setType] = useState<string | null>(null)
  const [run, setRun] = useState<Run | null>(null)
  const { message_types: types } = values
  // A replay is of one type. Of none, the service takes that of codes.
  const message_type = types.find(each => each === type) ?? types[0]
  const asked = { values, days, message_type }
  const start = () => setRun({ number: (run?.number ?? 0) + 1, asked, job: replayJob(asked) })
  return (
    <Section title={words.title}>
      <p className={classes.note}>{words.about}</p>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={words.days}
          data={DAYS.map(number => ({ value: String(number), label: words.dayChoice(number) }))}
          value={String(days)}
          onChange={event => setDays(Number(event.currentTarget.value))}
        />
        {types.length > 1 && (
          <NativeSelect
            label={words.type}
            data={[...types]}
            value={message_type}
            onChange={event => setType(event.currentTarget.value)}
          />
        )}
        <Button variant="default" disabled={wrongBreakerFields(values).length > 0} onClick={start}>
          {run === null ? words.start : words.again}
        </Button>
      </Group>
      {run !== null && (
        <RunView key={run.number} job={run.job} isOther={JSON.stringify(run.asked) !== JSON.stringify(asked)} />
      )}
    </Section>
  )
}

/** How far a replay is, and what it has found. It can be stopped and continued, and ends with the page. */
function RunView({ job, isOther }: Pick<Run, 'job'> & { isOther: boolean }) {
  const { state, progress: replayed, error, pause, resume } = useJob(job, NOTHING_REPLAYED)
  const isBusy = state === 'running' || state === 'waiting'
  const progress = words.progress(replayed.progress)
  const { destinations, pauses, stopped, entered, listed } = replayed
  return (
    <Stack gap="sm" mt="md">
      <Text fw={600} size="sm" role="status">
        {words.states[state]}
      </Text>
      {state !== 'done' && (
        <>
          <Progress value={100 * replayed.progress} animated={state === 'running'} aria-label={progress} />
          <Text size="sm">{progress}</Text>
        </>
      )}
      {isBusy && <Announcement text={progress} />}
      {state === 'failed' && <ErrorNotice variant="action" error={error} />}
      <Text size="sm">
        {pauses === 0
          ? words[state === 'done' ? 'none' : 'noneYet']
          : words.result(destinations, pauses, stopped, entered)}
      </Text>
      {isOther && (
        <Text size="sm" role="status">
          {words.isOther}
        </Text>
      )}
      {state !== 'done' && (
        <Group>
          {isBusy ? (
            <Button variant="default" onClick={pause}>
              {words.stop}
            </Button>
          ) : (
            <Button onClick={resume}>{words.continue}</Button>
          )}
        </Group>
      )}
      {!isBusy && listed.length > 0 && <Pauses listed={listed} pauses={pauses} />}
    </Stack>
  )
}

const PAGE_SIZE = 50

function Pauses({ listed, pauses }: Pick<Replayed, 'listed' | 'pauses'>) {
  const [page, setPage] = useState(1)
  return (
    <div>
      <DataTable
        label={words.table}
        columns={COLUMNS}
        rows={listed.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
        keyOf={({ user_id, country, from }) => `${user_id} ${country} ${from}`}
      />
      {listed.length > PAGE_SIZE && <Pager page={page} page_size={PAGE_SIZE} total={listed.length} onPage={setPage} />}
      {listed.length < pauses && <p className={table.more}>{words.first(listed.length, pauses)}</p>}
    </div>
  )
}

const COLUMNS: readonly Column<ReplayedPause>[] = [
  {
    label: words.columns.from,
    cell: ({ from, until }) => words.period(<Timestamp at={from} />, <Timestamp at={until} />),
  },
  { label: words.columns.user, kind: 'user', cell: pause => <UserLink user={pause} /> },
  { label: words.columns.country, kind: 'name', cell: ({ country }) => countryLabel(country) },
  unitsColumn(words.columns.stopped, ({ stopped }) => stopped),
  unitsColumn(words.columns.entered, ({ stopped_verified }) => stopped_verified),
]
