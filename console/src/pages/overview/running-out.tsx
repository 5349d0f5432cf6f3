import { Button } from '@mantine/core'
import { unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import type { Column } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { LongDate, TimeOrDate, Units } from '../../components/values.tsx'
import { formatRate } from '../../formats.ts'
import { type RunOut, runOutWithinDays } from '../../model/run-out.ts'
import { useForecasts } from '../../queries/forecasts.ts'
import { texts } from '../../texts/texts.ts'
import { FirstRows, useKeptChoice } from './parts.tsx'

const { runningOut } = texts.overviewParts

/** Users who will run out within 7 days at their daily rate, the first ones first. */
export function RunningOut() {
  const [isAll, setAll] = useKeptChoice('all users who run out')
  const forecasts = useForecasts(isAll)
  return (
    <Section isFramed title={runningOut.title}>
      <Loaded query={forecasts} loading={<Loading rows={3} height={36} />}>
        {({ summaries, coverage }) => {
          const found = summaries.flatMap(runOutWithinDays)
          const covered = (
            <>
              {coverage === 'all' ? runningOut.all(summaries.length) : runningOut.bound(summaries.length)}{' '}
              {coverage === 'too many' && runningOut.tooMany}
              {coverage === 'top' && (
                <Button size="compact-xs" variant="subtle" loading={isAll} onClick={() => setAll(true)}>
                  {runningOut.checkAll}
                </Button>
              )}
            </>
          )
          if (found.length === 0) {
            return (
              <EmptyState title={runningOut.none}>
                {summaries.every(({ forecast }) => forecast === null) && runningOut.noneAbout} {covered}
              </EmptyState>
            )
          }
          return (
            <>
              <FirstRows
                list="running out"
                label={runningOut.title}
                columns={COLUMNS}
                rows={found.toSorted((one, other) => one.runsOutAt.localeCompare(other.runsOutAt))}
                keyOf={({ user_id }) => user_id}
              />
              <p className={classes.more}>
                {runningOut.about} {covered}
              </p>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

const COLUMNS: readonly Column<RunOut>[] = [
  {
    label: runningOut.columns.user,
    kind: 'user',
    cell: user => <UserLink user={user} unnamed={texts.overview.user(user.user_id)} fw={600} />,
  },
  {
    label: runningOut.columns.runsOut,
    cell: ({ isSoon, runsOutAt, unused }) => (
      <>
        {isSoon ? runningOut.soon : <LongDate at={runsOutAt} dateOnly />}
        {unused > 0 && <div className={classes.about}>{runningOut.unused(unused)}</div>}
      </>
    ),
  },
  { label: runningOut.columns.rate, kind: 'number', cell: ({ dailyRate }) => formatRate(dailyRate) },
  unitsColumn(runningOut.columns.left, ({ left }) => left),
  {
    label: runningOut.columns.missing,
    kind: 'number',
    cell: ({ missing: { units, until } }) => (
      <>
        <Units value={units} />
        <div className={classes.about}>{runningOut.until(<TimeOrDate at={until} />)}</div>
      </>
    ),
  },
]
