import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Kind } from '../../components/kind.tsx'
import classes from '../../components/panel-table.module.css'
import { KIND_LABELS } from '../../components/quota-labels.ts'

/** The kind of a quota and its name or number, as a link. */
export function QuotaName({ quota: { id, kind, name } }: { quota: Pick<Api['SmsQuota'], 'id' | 'kind' | 'name'> }) {
  return (
    <div className={classes.name}>
      <Kind kind={kind}>
        {KIND_LABELS[kind]}{' '}
        <Anchor component={Link} href={`/quotas/${id}`} size="sm" fw={600}>
          <bdi>{name ?? id}</bdi>
        </Anchor>
      </Kind>
    </div>
  )
}
