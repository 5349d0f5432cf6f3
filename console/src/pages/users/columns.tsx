import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Badge, customerTone } from '../../components/badge.tsx'
import classes from '../../components/data-table.module.css'
import type { SortableColumn } from '../../components/table-controls.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { TimeOrDate, Units } from '../../components/values.tsx'
import { countryLabel, formatExactPercent, formatPercent } from '../../formats.ts'
import { isBlockedInPart } from '../../model/customer-state.ts'
import { type Customer, type CustomerFilters, type CustomerSort, SPARK, sparkOf } from '../../model/customers.ts'
import { texts } from '../../texts/texts.ts'
import styles from './users.module.css'

const words = texts.customers

type CustomerColumn = SortableColumn<Customer, CustomerSort>

const CUSTOMER: CustomerColumn = {
  label: words.columns.customer,
  kind: 'name',
  orders: ['name', '-name'],
  cell: customer => <Name customer={customer} />,
}
const UNMET: CustomerColumn = {
  label: words.columns.unmet,
  kind: 'number',
  orders: ['-unmet', 'unmet'],
  cell: ({ unmet_units }) => <Units value={unmet_units} />,
}
const OTHERS: readonly CustomerColumn[] = [
  { label: words.columns.state, kind: 'state', cell: customer => <State customer={customer} /> },
  {
    label: words.columns.sendable,
    kind: 'number',
    cell: ({ sendable }) => (
      <span className={styles.figure}>
        {sendable === null ? words.unlimited : sendable === 0 ? words.nothing : words.now(sendable)}
      </span>
    ),
  },
  {
    label: words.columns.used,
    orders: ['-used', 'used'],
    cell: ({ used_percent }) => <Share percent={used_percent} />,
  },
  {
    label: words.columns.sent,
    orders: ['-sent', 'sent'],
    cell: customer => <Sent customer={customer} />,
  },
  {
    label: words.columns.denied,
    kind: 'number',
    orders: ['-denied', 'denied'],
    cell: ({ denied_percent }) => (denied_percent === null ? '–' : formatExactPercent(denied_percent / 100)),
  },
  {
    label: words.columns.growth,
    kind: 'number',
    orders: ['-growth', 'growth'],
    cell: ({ growth_percent, sent_units }) =>
      growth_percent === null ? (sent_units > 0 ? words.isNew : '–') : words.grown(growth_percent),
  },
  {
    label: words.columns.last,
    orders: ['-last_message', 'last_message'],
    cell: ({ last_message_at: at }) => (at === null ? words.never : <TimeOrDate at={at} />),
  },
]

const COLUMNS = [CUSTOMER, ...OTHERS]
const COLUMNS_OF_UNMET = [CUSTOMER, UNMET, ...OTHERS]

export const columnsOf = ({ view }: CustomerFilters) => (view === 'unmet' ? COLUMNS_OF_UNMET : COLUMNS)

/** What the user is called, and under it the reference. */
function Name({ customer: { user_id, user_ref = null, user_name = null } }: { customer: Customer }) {
  return (
    <>
      <UserLink user={{ user_id, user_ref, user_name }} fw={600} />
      {user_name !== null && user_ref !== null && (
        <div className={classes.about}>
          <bdi>{user_ref}</bdi>
        </div>
      )}
    </>
  )
}

/** The light, and why: the reason in the words of denials, the messages that it is about, and until when. */
function State({ customer }: { customer: Customer }) {
  const { state, reason, countries, message_types, quota_id, until } = customer
  const why = state === 'no_quota' ? null : reason && texts.values.denialReasons[reason]
  const about = [...(message_types ?? []), ...(countries ?? []).map(countryLabel)].join(', ')
  const text = [why, about === '' ? null : about].filter(part => part !== null).join(': ')
  return (
    <>
      <Badge tone={customerTone(customer)}>
        {isBlockedInPart(customer) ? words.blockedInPart : words.states[state]}
      </Badge>
      <div className={classes.about}>
        {text !== '' &&
          (quota_id === null ? (
            text
          ) : (
            <Anchor component={Link} href={`/quotas/${quota_id}`} inherit>
              {text}
            </Anchor>
          ))}
        {text !== '' && until !== null && ' · '}
        {until !== null && <Until state={state} at={until} />}
      </div>
    </>
  )
}

function Until({ state, at }: { state: Customer['state']; at: string }) {
  const time = <TimeOrDate at={at} />
  switch (state) {
    case 'near_limit':
    case 'running_out':
    case 'ending':
      return words.until[state](time)
    default:
      return words.until.blocked(time)
  }
}

function Share({ percent }: { percent: number }) {
  return (
    <div className={styles.share}>
      <div className={styles.bar} data-full={percent >= 100 || undefined} aria-hidden>
        <span style={{ width: `${Math.min(100, percent)}%` }} />
      </div>
      <span className={styles.figure}>{formatPercent(Math.floor(percent) / 100)}</span>
    </div>
  )
}

function Sent({ customer: { sent_units, daily } }: { customer: Customer }) {
  return (
    <div className={styles.sent}>
      {sent_units > 0 && (
        <svg
          className={styles.spark}
          viewBox={`0 -1 ${SPARK.width} ${SPARK.height + 2}`}
          role="img"
          aria-label={words.daily(Math.max(...daily))}
        >
          <path d={sparkOf(daily)} />
        </svg>
      )}
      <Units value={sent_units} />
    </div>
  )
}
