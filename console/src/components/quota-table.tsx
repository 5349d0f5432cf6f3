import { Anchor } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { CONTINUES } from '../../../src/domain/forecasts/raised-cap.ts'
import { exceptionsOf } from '../../../src/domain/messages/country.ts'
import type { Api } from '../api/types.ts'
import { countryName, formatDistance, formatList, formatTimestamp } from '../formats.ts'
import { isSortedByUse, type Sort, type SortedBy } from '../model/quota-lists.ts'
import { currentRaise } from '../model/raised-cap.ts'
import { texts } from '../texts/texts.ts'
import { StatusBadge } from './badge.tsx'
import { timeColumn } from './columns.tsx'
import classes from './data-table.module.css'
import { DataTable } from './data-table.tsx'
import { type Density, useDensity } from './density.ts'
import { Kind } from './kind.tsx'
import { quotaName } from './quota-labels.ts'
import controls from './table-controls.module.css'
import { headsOf, type RowSelection, type SortableColumn, useCheck } from './table-controls.tsx'
import { UsageBar } from './usage-bar.tsx'
import { UserLink } from './user-link.tsx'
import { Timestamp, Units } from './values.tsx'

type Quota = Api['SmsQuota']
type QuotaColumn = SortableColumn<Quota, Sort>

/** The owner of the rows. `own` has no links and no operator's words, because its readers are customers. */
type Owner = 'all' | 'user' | 'own'

const upAndDown = (by: SortedBy): [Sort, Sort] => [by, `-${by}`]
const downAndUp = (by: SortedBy): [Sort, Sort] => [`-${by}`, by]

/** The columns after the name, in the order in which tables show them. */
const COLUMNS = {
  id: {
    label: texts.quotas.columns.id,
    orders: downAndUp('id'),
    kind: 'number',
    cell: ({ id }) => id,
  },
  user: {
    label: texts.quotas.columns.user,
    kind: 'user',
    cell: quota => <UserLink user={quota} />,
  },
  status: { label: texts.quotas.columns.status, cell: quota => <StatusBadge quota={quota} /> },
  usage: {
    label: texts.quotas.columns.usage,
    orders: downAndUp('used_percent'),
    kind: 'usage',
    cell: quota => <UsageBar {...quota} />,
  },
  remaining: {
    label: texts.quotas.columns.remaining,
    kind: 'number',
    cell: ({ remaining, per }) => (per === null ? <Units value={remaining} /> : '–'),
    orders: upAndDown('remaining'),
  },
  limit: {
    label: texts.quotas.columns.limit,
    kind: 'number',
    cell: ({ limit, rolled_over }) => (
      <>
        <Units value={limit} />
        {rolled_over > 0 && <span className={controls.second}>{texts.quotas.rolledOver(rolled_over)}</span>}
      </>
    ),
  },
  scope: { label: texts.quotas.columns.scope, kind: 'scope', cell: scopeText },
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
    kind: 'name',
    cell: ({ external_ref }) => <bdi>{external_ref ?? '–'}</bdi>,
  },
  plan: {
    label: texts.quotas.columns.plan,
    kind: 'name',
    cell: ({ plan }) =>
      plan === null ? (
        '–'
      ) : (
        <Anchor component={Link} href={`/plans/${plan.id}`} size="sm">
          <bdi>{plan.name}</bdi>
        </Anchor>
      ),
  },
  created_at: {
    ...timeColumn<Quota>(texts.quotas.columns.created_at, ({ created_at }) => created_at),
    orders: downAndUp('created_at'),
  },
} satisfies Record<string, QuotaColumn>

export type ColumnId = keyof typeof COLUMNS
export const COLUMN_IDS = Object.keys(COLUMNS) as ColumnId[]

/** The columns that tables of all users show unless the reader chooses others. */
export const DEFAULT_COLUMNS: readonly ColumnId[] = ['user', 'status', 'usage', 'limit', 'window_end', 'expires_at']

/** Which rows are selected. */
export type QuotaSelection = RowSelection<Quota>

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
  /** Adds a checkbox to each row. */
  selection?: QuotaSelection | undefined
  /** A last cell in each row. The same function at each render. */
  actions?: ((quota: Quota) => ReactNode) | undefined
}

/** Columns that fit 1280 px in any font. With more, the table scrolls sideways on all but the widest screens. */
const MAX_FITTING = 6

const SELECTION_LABELS = {
  row: (quota: Quota) => texts.quotas.selection.select(quotaName(quota)),
  page: texts.quotas.selection.selectPage,
}

/** The states in which a quota does not count. */
const INACTIVE: ReadonlySet<Quota['status']> = new Set(['suspended', 'scheduled', 'expired', 'deleted'])
const isInactive = ({ status }: Quota) => INACTIVE.has(status)

/** A table of quotas. */
export function QuotaTable({ columns = DEFAULT_COLUMNS, ...props }: TableProps) {
  const density = useDensity()
  const { quotas, owner, sort, onSort, canSortByRemaining, isStale, selection, actions } = props
  const shown = useMemo(
    () => [
      nameColumn(owner, density),
      ...COLUMN_IDS.filter(id => columns.includes(id) && (id !== 'user' || owner === 'all')).map(id =>
        columnOf(id, canSortByRemaining),
      ),
      ...(actions === undefined ? [] : [{ ...ACTIONS, cell: actions }]),
    ],
    [columns, owner, density, canSortByRemaining, actions],
  )
  const check = useCheck(selection, quotas, SELECTION_LABELS)
  return (
    <div className={columns.length > MAX_FITTING ? controls.wide : undefined}>
      <DataTable
        look="records"
        className={controls.table}
        label={texts.quotas.title}
        columns={shown}
        rows={quotas}
        keyOf={({ id }) => id}
        headOf={headsOf(sort, onSort)}
        {...{ isStale, check, isInactive }}
      />
    </div>
  )
}

const ACTIONS = { label: texts.quotas.columns.actions, kind: 'actions', cardLabel: () => '' } as const

function nameColumn(owner: Owner, density: Density): QuotaColumn {
  return {
    label: texts.quotas.columns.name,
    orders: upAndDown('name'),
    cell: quota =>
      density === 'compact' ? (
        <Kind kind={quota.kind}>
          <Name quota={quota} owner={owner} />
        </Kind>
      ) : (
        <>
          <Name quota={quota} owner={owner} />
          <About quota={quota} owner={owner} />
        </>
      ),
  }
}

function columnOf(id: ColumnId, canSortByUse: boolean): QuotaColumn {
  const column: QuotaColumn = COLUMNS[id]
  const isSortable = canSortByUse || column.orders === undefined || !isSortedByUse(column.orders[0])
  return isSortable ? column : { ...column, orders: undefined }
}

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
  const { kind, period, countries, message_types, plan } = quota
  const isScoped = countries !== null || message_types !== null
  return (
    <div className={controls.description}>
      <Kind kind={kind} label={owner === 'own' ? texts.quotas.ownKinds[kind] : undefined} /> ·{' '}
      {period === null ? texts.quotas.oneTime : texts.quotas.each[period]}
      {isScoped && <> · {scopeText(quota)}</>}
      {plan !== null && (
        <>
          {' · '}
          <bdi>{plan.name}</bdi>
        </>
      )}
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
  const destinations = (codes: readonly string[]) => {
    const others = exceptionsOf(codes)
    return others === null ? listed(codes.map(countryName)) : texts.values.allExcept(listed(others.map(countryName)))
  }
  const parts = [
    ...(countries === null ? [] : [destinations(countries)]),
    ...(message_types === null ? [] : [listed(message_types)]),
  ]
  return parts.length === 0 ? everything : parts.join(' · ')
}

function End({ at }: { at: string | null }) {
  return (
    <>
      <Timestamp at={at} none={texts.quotas.never} />
      {at !== null && <span className={controls.second}>{formatDistance(at, Date.now())}</span>}
    </>
  )
}
