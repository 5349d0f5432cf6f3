import { useState } from 'react'
import { quotaName } from '../../components/quota-labels.ts'
import { UserName } from '../../components/user-link.tsx'
import { formatTimestamp, formatUnits } from '../../formats.ts'
import type { NamedUser } from '../../model/addresses.ts'
import type { Extra } from '../../model/bulk-change.ts'
import { texts } from '../../texts/texts.ts'
import { FIRST_SHOWN } from './jobs/job-view.tsx'
import { PreviewTable } from './jobs/preview-table.tsx'

interface Row extends Omit<Extra, 'quota'> {
  quota: Pick<Extra['quota'], 'id' | 'kind' | 'name' | 'limit'> & NamedUser
  /** Units that the grant got before, as grants of their own. */
  earlier?: readonly Pick<Extra['quota'], 'limit'>[]
}

/** The limit of a grant, with the units that were added to it. */
function limitOf({ quota, earlier = [] }: Row): number {
  return [quota, ...earlier].reduce((sum, { limit }) => sum + (limit ?? 0), 0)
}

/** Who would get units, and until when. */
export function ExtrasTable({ extras }: { extras: readonly Row[] }) {
  const [count, setCount] = useState(FIRST_SHOWN)
  const { user, grant, limit, total, end } = texts.manyQuotas.give.gift
  const columns = [
    { label: user, cell: ({ quota }: Row) => <UserName user={quota} /> },
    { label: grant, cell: ({ quota }: Row) => <bdi>{quotaName(quota)}</bdi> },
    { label: limit, cell: (row: Row) => formatUnits(limitOf(row)) },
    { label: total, cell: (row: Row) => formatUnits(limitOf(row) + row.units) },
  ]
  const ends = {
    label: end,
    cell: (extra: Row) => (extra.end === null ? texts.quotas.never : formatTimestamp(extra.end)),
  }
  const shown = extras.slice(0, count)
  return (
    <PreviewTable
      caption={texts.manyQuotas.give.gifts(shown.length, extras.length)}
      columns={extras.some(extra => extra.end !== null) ? [...columns, ends] : columns}
      rows={shown}
      hidden={extras.length - shown.length}
      keyOf={({ quota }) => quota.id}
      onMore={more => setCount(count + more)}
    />
  )
}
