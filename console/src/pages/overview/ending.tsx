import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { isExtra } from '../../../../src/domain/extra-grant.ts'
import type { Api } from '../../api/types.ts'
import { timeColumn, unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import type { Column } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { currentRaise } from '../../model/raised-cap.ts'
import { ENDING_DAYS, useEnding } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { FirstRows } from './parts.tsx'
import { quotaColumn, usageColumn } from './quota-columns.tsx'

type Quota = Api['SmsQuota']

const { ending } = texts.overviewParts

/** Quotas in use that end this week, those with most units left first, and how many extra grants end. */
export function Ending() {
  const list = useEnding()
  return (
    <Section
      isFramed
      title={ending.title}
      aside={
        <Anchor component={Link} href={`/quotas?ends_within=${ENDING_DAYS}&status=active&sort=expires_at`} size="sm">
          {ending.all}
        </Anchor>
      }
    >
      <Loaded query={list} loading={<Loading rows={3} height={44} />}>
        {({ items, next_cursor }) => {
          // A raised cap is followed by one with the old limit. That extra units end needs no decision, and a gift to hundreds would hide the rest.
          const quotas = items.filter(quota => !isExtra(quota) && currentRaise(quota) === null)
          const extra = items.filter(isExtra).length
          return (
            <>
              {quotas.length === 0 ? (
                <EmptyState title={extra === 0 ? ending.none : ending.noOther} />
              ) : (
                <FirstRows
                  list="ending"
                  label={ending.title}
                  columns={COLUMNS}
                  rows={quotas.toSorted((one, other) => leftOf(other) - leftOf(one))}
                  keyOf={({ id }) => id}
                />
              )}
              <p className={classes.more}>
                {quotas.length > 0 && ending.about} {extra > 0 && ending.extra(extra)}{' '}
                {next_cursor !== null && ending.bound(items.length)}
              </p>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** Null is unlimited. */
const leftOf = ({ remaining }: Quota) => remaining ?? Number.POSITIVE_INFINITY

const COLUMNS: readonly Column<Quota>[] = [
  quotaColumn(ending.columns.quota),
  unitsColumn(ending.columns.left, ({ remaining }) => remaining),
  usageColumn(ending.columns.usage),
  timeColumn(ending.columns.ends, ({ expires_at }) => expires_at),
]
