import { useState } from 'react'
import type { Extra } from '../../components/extra-grant.ts'
import { quotaName } from '../../components/quota-labels.ts'
import { formatTimestamp, formatUnits } from '../../formats.ts'
import { manyTexts } from '../../texts/many-quotas.ts'
import { texts } from '../../texts/texts.ts'
import { FIRST_SHOWN } from './jobs/job-view.tsx'
import { PreviewTable } from './jobs/preview-table.tsx'

/** Who would get units, and until when. */
export function ExtrasTable({ extras }: { extras: readonly Extra[] }) {
  const [count, setCount] = useState(FIRST_SHOWN)
  const { user, grant, limit, total, end } = manyTexts.topUp.gift
  const columns = [
    { label: user, cell: ({ quota }: Extra) => quota.user_id },
    { label: grant, cell: ({ quota }: Extra) => <bdi>{quotaName(quota)}</bdi> },
    { label: limit, cell: ({ quota }: Extra) => formatUnits(quota.limit ?? 0) },
    { label: total, cell: ({ quota, units }: Extra) => formatUnits((quota.limit ?? 0) + units) },
  ]
  const ends = {
    label: end,
    cell: (extra: Extra) => (extra.end === null ? texts.quotas.never : formatTimestamp(extra.end)),
  }
  const shown = extras.slice(0, count)
  return (
    <PreviewTable
      caption={manyTexts.topUp.gifts(shown.length, extras.length)}
      columns={extras.some(extra => extra.end !== null) ? [...columns, ends] : columns}
      rows={shown}
      hidden={extras.length - shown.length}
      keyOf={({ quota }) => quota.id}
      onMore={more => setCount(count + more)}
    />
  )
}
