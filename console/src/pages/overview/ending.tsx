import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { QuotaName } from '../../components/links.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Timestamp, Units } from '../../components/values.tsx'
import { isExtra } from '../../model/extra-grant.ts'
import { currentRaise } from '../../model/raised-cap.ts'
import { ENDING_DAYS, useEnding } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { useFirstRows } from './parts.tsx'

type Quota = Api['SmsQuota']

/** Quotas in use that end this week, those with most units left first, and how many extra grants end. */
export function Ending() {
  const list = useEnding()
  const { ending } = texts.overviewParts
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
                <Quotas quotas={quotas.toSorted((one, other) => leftOf(other) - leftOf(one))} />
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

function Quotas({ quotas }: { quotas: readonly Quota[] }) {
  const [shown, button] = useFirstRows('ending', quotas)
  const { title, columns } = texts.overviewParts.ending
  return (
    <>
      <Table className={`${classes.table} ${classes.cards}`} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{columns.quota}</Table.Th>
            <Table.Th scope="col" className={classes.number}>
              {columns.left}
            </Table.Th>
            <Table.Th scope="col">{columns.usage}</Table.Th>
            <Table.Th scope="col">{columns.ends}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(quota => (
            <Table.Tr key={quota.id}>
              <Table.Th scope="row" className={classes.name}>
                <QuotaName quota={quota} />
                <Anchor component={Link} href={`/users/${quota.user_id}`} size="xs">
                  {texts.overviewParts.user(quota.user_id)}
                </Anchor>
              </Table.Th>
              <Table.Td data-label={columns.left} className={classes.number}>
                <Units value={quota.remaining} />
              </Table.Td>
              <Table.Td data-label={columns.usage} className={classes.usage}>
                <UsageBar {...quota} />
              </Table.Td>
              <Table.Td data-label={columns.ends}>
                <Timestamp at={quota.expires_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {button}
    </>
  )
}
