import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { LongDate, TimeOrDate, Units } from '../../components/values.tsx'
import { formatRate } from '../../formats.ts'
import { type RunOut, runOutWithinDays } from '../../model/run-out.ts'
import { useForecasts } from '../../queries/forecasts.ts'
import { texts } from '../../texts/texts.ts'
import { useFirstRows, useKeptChoice } from './parts.tsx'

/** Users who will run out within 7 days at their daily rate, the first ones first. */
export function RunningOut() {
  const [isAll, setAll] = useKeptChoice('all users who run out')
  const forecasts = useForecasts(isAll)
  const { runningOut } = texts.overviewParts
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
              <Users forecasts={found.toSorted((one, other) => one.runsOutAt.localeCompare(other.runsOutAt))} />
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

function Users({ forecasts }: { forecasts: readonly RunOut[] }) {
  const [shown, button] = useFirstRows('running out', forecasts)
  const { title, columns } = texts.overviewParts.runningOut
  return (
    <>
      <Table className={`${classes.table} ${classes.cards}`} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{columns.user}</Table.Th>
            <Table.Th scope="col">{columns.runsOut}</Table.Th>
            <Table.Th scope="col" className={classes.number}>
              {columns.rate}
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              {columns.left}
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              {columns.missing}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ user_id, runsOutAt, isSoon, dailyRate, left, unused, missing }) => (
            <Table.Tr key={user_id}>
              <Table.Th scope="row">
                <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
                  {texts.overviewParts.user(user_id)}
                </Anchor>
              </Table.Th>
              <Table.Td data-label={columns.runsOut}>
                <div>
                  {isSoon ? texts.overviewParts.runningOut.soon : <LongDate at={runsOutAt} dateOnly />}
                  {unused > 0 && <div className={classes.about}>{texts.overviewParts.runningOut.unused(unused)}</div>}
                </div>
              </Table.Td>
              <Table.Td data-label={columns.rate} className={classes.number}>
                {formatRate(dailyRate)}
              </Table.Td>
              <Table.Td data-label={columns.left} className={classes.number}>
                <Units value={left} />
              </Table.Td>
              <Table.Td data-label={columns.missing} className={classes.number}>
                <div>
                  <Units value={missing.units} />
                  <div className={classes.about}>
                    {texts.overviewParts.runningOut.until(<TimeOrDate at={missing.until} />)}
                  </div>
                </div>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}
