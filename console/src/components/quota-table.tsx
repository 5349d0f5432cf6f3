import { Anchor, UnstyledButton } from '@mantine/core'
import { memo, type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import { countryName, formatDistance, formatList, formatTimestamp } from '../formats.ts'
import { isSortedByUse, type Sort, type SortedBy } from '../model/quota-lists.ts'
import { CONTINUES, currentRaise } from '../model/raised-cap.ts'
import { texts } from '../texts/texts.ts'
import { StatusBadge } from './badge.tsx'
import { Kind } from './kind.tsx'
import { quotaName } from './quota-labels.ts'
import classes from './quota-table.module.css'
import { Table } from './table.tsx'
import { UsageBar } from './usage-bar.tsx'
import { Timestamp, Units } from './values.tsx'

type Quota = Api['SmsQuota']

/** The owner of the rows. `own` has no links and no operator's words, because its readers are customers. */
type Owner = 'all' | 'user' | 'own'

interface Column {
  label: string
  /** The orders of its heading: the one of the first click, and the other one. */
  orders?: readonly [first: Sort, second: Sort]
  className?: string | undefined
  cell(quota: Quota): ReactNode
}

const upAndDown = (by: SortedBy): [Sort, Sort] => [by, `-${by}`]
const downAndUp = (by: SortedBy): [Sort, Sort] => [`-${by}`, by]

/** The columns after the name, in the order in which tables show them. */
const COLUMNS = {
  id: {
    label: texts.quotas.columns.id,
    orders: downAndUp('id'),
    className: classes.number,
    cell: ({ id }) => id,
  },
  user: {
    label: texts.quotas.columns.user,
    cell: ({ user_id }) => (
      <Anchor component={Link} href={`/users/${user_id}`} size="sm">
        {user_id}
      </Anchor>
    ),
  },
  status: { label: texts.quotas.columns.status, cell: quota => <StatusBadge quota={quota} /> },
  usage: {
    label: texts.quotas.columns.usage,
    orders: downAndUp('used_percent'),
    className: classes.usage,
    cell: quota => <UsageBar {...quota} />,
  },
  remaining: {
    label: texts.quotas.columns.remaining,
    orders: upAndDown('remaining'),
    className: classes.number,
    cell: ({ remaining }) => <Units value={remaining} />,
  },
  limit: {
    label: texts.quotas.columns.limit,
    className: classes.number,
    cell: ({ limit, rolled_over }) => (
      <>
        <Units value={limit} />
        {rolled_over > 0 && <span className={classes.second}>{texts.quotas.rolledOver(rolled_over)}</span>}
      </>
    ),
  },
  scope: { label: texts.quotas.columns.scope, className: classes.scope, cell: quota => scopeText(quota) },
  window_end: {
    label: texts.quotas.columns.window_end,
    cell: ({ period, window_end }) =>
      period === null ? texts.quotas.doesNotReset : <Timestamp at={window_end} none={texts.quotas.doesNotReset} />,
  },
  expires_at: {
    label: texts.quotas.columns.expires_at,
    orders: upAndDown('expires_at'),
    cell: ({ expires_at }) => <End at={expires_at} />,
  },
  external_ref: {
    label: texts.quotas.columns.external_ref,
    orders: upAndDown('external_ref'),
    className: classes.name,
    cell: ({ external_ref }) => <bdi>{external_ref ?? '–'}</bdi>,
  },
  created_at: {
    label: texts.quotas.columns.created_at,
    orders: downAndUp('created_at'),
    cell: ({ created_at }) => <Timestamp at={created_at} />,
  },
} satisfies Record<string, Column>

export type ColumnId = keyof typeof COLUMNS
export const COLUMN_IDS = Object.keys(COLUMNS) as ColumnId[]

/** The columns that tables of all users show unless the reader chooses others. */
export const DEFAULT_COLUMNS: readonly ColumnId[] = ['user', 'status', 'usage', 'limit', 'window_end', 'expires_at']

export type Density = 'comfortable' | 'compact'

/** Which rows are selected. */
export interface RowSelection {
  isSelected(quota: Quota): boolean
  /** The same function at each render. */
  onSelect(quotas: readonly Quota[], isSelected: boolean): void
}

interface TableProps {
  quotas: readonly Quota[]
  owner: Owner
  sort: Sort
  onSort: (sort: Sort) => void
  /** Whether the rows are of a single user, which sorting by usage needs. */
  canSortByRemaining: boolean
  /** Whether newer rows are being loaded. */
  isStale: boolean
  columns?: readonly ColumnId[]
  density?: Density
  /** Adds a checkbox to each row. */
  selection?: RowSelection | undefined
  /** A last cell in each row. The same function at each render. */
  actions?: ((quota: Quota) => ReactNode) | undefined
}

/** Columns that fit 1280 px in any font. With more, the table scrolls sideways on all but the widest screens. */
const MAX_FITTING = 6

/** A table of quotas; on narrow screens each row becomes a card with labeled cells. */
export function QuotaTable({ columns = DEFAULT_COLUMNS, density = 'comfortable', ...props }: TableProps) {
  const { quotas, owner, sort, onSort, canSortByRemaining, isStale, selection, actions } = props
  const shown = useMemo(
    () => COLUMN_IDS.filter(id => columns.includes(id) && (id !== 'user' || owner === 'all')),
    [columns, owner],
  )
  return (
    <div className={shown.length > MAX_FITTING ? classes.wide : undefined}>
      <Table
        className={classes.table}
        aria-label={texts.quotas.title}
        aria-busy={isStale}
        data-stale={isStale || undefined}
        data-density={density}
      >
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && <SelectAll quotas={quotas} selection={selection} />}
            <Heading label={texts.quotas.columns.name} orders={upAndDown('name')} sort={sort} onSort={onSort} />
            {shown.map(id => (
              <Heading key={id} {...headingOf(id, canSortByRemaining)} sort={sort} onSort={onSort} />
            ))}
            {actions !== undefined && (
              <Table.Td>
                <span className={classes.unseen}>{texts.quotas.columns.actions}</span>
              </Table.Td>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {quotas.map(quota => (
            <Row
              key={quota.id}
              {...{ quota, owner, columns: shown, density, actions }}
              isSelected={selection?.isSelected(quota) ?? false}
              onSelect={selection?.onSelect}
            />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function headingOf(id: ColumnId, canSortByUse: boolean): Pick<Column, 'label' | 'orders' | 'className'> {
  const { label, orders, className }: Column = COLUMNS[id]
  const isSortable = orders !== undefined && (canSortByUse || !isSortedByUse(orders[0]))
  return { label, className, ...(isSortable ? { orders } : {}) }
}

interface RowProps extends Pick<TableProps, 'owner' | 'actions'> {
  quota: Quota
  columns: readonly ColumnId[]
  density: Density
  isSelected: boolean
  onSelect: RowSelection['onSelect'] | undefined
}

/** Rendered again only if something of the row has changed: a page can have two hundred. */
const Row = memo(({ quota, owner, columns, density, isSelected, onSelect, actions }: RowProps) => {
  return (
    <Table.Tr data-status={quota.status} data-selected={isSelected || undefined}>
      {onSelect !== undefined && (
        <Table.Td className={classes.check}>
          {/* Not Mantine's: two hundred of them would be slow to render. The label makes it easier to hit. */}
          <label>
            <input
              type="checkbox"
              aria-label={texts.quotas.selection.select(quotaName(quota))}
              checked={isSelected}
              onChange={event => onSelect([quota], event.currentTarget.checked)}
            />
          </label>
        </Table.Td>
      )}
      <Table.Th scope="row" data-label={texts.quotas.columns.name}>
        {density === 'compact' ? (
          <Kind kind={quota.kind}>
            <Name quota={quota} owner={owner} />
          </Kind>
        ) : (
          <>
            <Name quota={quota} owner={owner} />
            <About quota={quota} owner={owner} />
          </>
        )}
      </Table.Th>
      {columns.map(column => {
        const { label, className = '', cell }: Column = COLUMNS[column]
        return (
          <Table.Td key={column} data-label={label} className={className}>
            {cell(quota)}
          </Table.Td>
        )
      })}
      {actions !== undefined && <Table.Td className={classes.actions}>{actions(quota)}</Table.Td>}
    </Table.Tr>
  )
})

function Name({ quota, owner }: { quota: Quota; owner: Owner }) {
  const { id, name, kind } = quota
  if (owner === 'own')
    return (
      <span className={classes.name}>
        <bdi>{name ?? texts.quotas.ownKinds[kind]}</bdi>
      </span>
    )
  return (
    <Anchor component={Link} href={`/quotas/${id}`} size="sm" fw={600} className={classes.name}>
      <bdi>{quotaName(quota)}</bdi>
    </Anchor>
  )
}

/** The line under the name: the kind, when the units come back, and what the quota covers if that is not everything. */
function About({ quota, owner }: { quota: Quota; owner: Owner }) {
  const { kind, period, countries, message_types } = quota
  const isScoped = countries !== null || message_types !== null
  return (
    <div className={classes.about}>
      <Kind kind={kind} label={owner === 'own' ? texts.quotas.ownKinds[kind] : undefined} /> ·{' '}
      {period === null ? texts.quotas.oneTime : texts.quotas.each[period]}
      {isScoped && <> · {scopeText(quota)}</>}
      <RaiseNote quota={quota} />
    </div>
  )
}

/** What becomes of a limit that is raised for a while. */
function RaiseNote({ quota }: { quota: Quota }) {
  const raise = currentRaise(quota)
  const { raised, follows } = texts.quotas
  if (raise !== null) return <div>{raised(raise.to, formatTimestamp(raise.until), raise.from)}</div>
  return CONTINUES in quota.metadata && quota.status === 'scheduled' ? (
    <div>{follows(formatTimestamp(quota.starts_at))}</div>
  ) : null
}

/** Countries that a scope names before it only counts the rest. */
const MAX_NAMED = 3

function scopeText({ countries, message_types }: Quota): string {
  const { everything, more } = texts.quotas.scope
  const listed = (items: readonly string[]) =>
    items.length <= MAX_NAMED
      ? formatList(items)
      : formatList([...items.slice(0, MAX_NAMED), more(items.length - MAX_NAMED)])
  const parts = [
    ...(countries === null ? [] : [listed(countries.map(countryName))]),
    ...(message_types === null ? [] : [listed(message_types)]),
  ]
  return parts.length === 0 ? everything : parts.join(' · ')
}

function End({ at }: { at: string | null }) {
  return (
    <span>
      <Timestamp at={at} none={texts.quotas.never} />
      {at !== null && <span className={classes.second}>{formatDistance(at, Date.now())}</span>}
    </span>
  )
}

function SelectAll({ quotas, selection }: { quotas: readonly Quota[]; selection: RowSelection }) {
  const count = quotas.filter(quota => selection.isSelected(quota)).length
  const isAll = count === quotas.length
  return (
    <Table.Td className={classes.check}>
      <label>
        <input
          ref={element => {
            if (element !== null) element.indeterminate = count > 0 && !isAll
          }}
          type="checkbox"
          aria-label={texts.quotas.selection.selectPage}
          checked={isAll}
          onChange={() => selection.onSelect(quotas, !isAll)}
        />
      </label>
    </Table.Td>
  )
}

interface HeadingProps extends Pick<TableProps, 'sort' | 'onSort'>, Pick<Column, 'label' | 'orders' | 'className'> {}

function Heading({ label, orders, className = '', sort, onSort }: HeadingProps) {
  if (orders === undefined)
    return (
      <Table.Th scope="col" className={className}>
        {label}
      </Table.Th>
    )
  const [first, second] = orders
  const order = orders.includes(sort) ? (sort.startsWith('-') ? 'descending' : 'ascending') : 'none'
  return (
    <Table.Th scope="col" aria-sort={order} className={className}>
      <UnstyledButton className={classes.sort} onClick={() => onSort(sort === first ? second : first)}>
        {label}
        <span aria-hidden>{order === 'ascending' ? '↑' : order === 'descending' ? '↓' : '↕'}</span>
      </UnstyledButton>
    </Table.Th>
  )
}
