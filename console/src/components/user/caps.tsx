import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { quotaName } from '../quota-labels.ts'
import { Section } from '../section.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { Timestamp, Units } from '../values.tsx'
import classes from './summary.module.css'

type Cap = Api['QuotaSummary']['caps'][number]

/** A user's caps and their headroom. */
export function Caps({ caps, isOwn }: { caps: readonly Cap[]; isOwn: boolean }) {
  return (
    <Section title="Caps">
      <ul className={classes.rows}>
        {caps.map(cap => (
          <CapRow key={cap.quota_id} cap={cap} isOwn={isOwn} />
        ))}
      </ul>
    </Section>
  )
}

function CapRow({ cap, isOwn }: { cap: Cap; isOwn: boolean }) {
  const name = <bdi>{quotaName({ id: cap.quota_id, kind: 'cap', name: cap.name })}</bdi>
  return (
    <li className={classes.row}>
      <div className={classes.name}>
        {isOwn ? (
          name
        ) : (
          <Anchor component={Link} href={`/quotas/${cap.quota_id}`} size="sm">
            {name}
          </Anchor>
        )}
        <div className={classes.about}>
          {cap.window_end === null ? 'Never resets' : 'Until '}
          {cap.window_end !== null && <Timestamp at={cap.window_end} />}
        </div>
      </div>
      <UsageBar {...cap} overage={overageOf(cap)} />
      <div className={classes.left}>
        <Units value={cap.remaining} />
        <div className={classes.about}>headroom</div>
      </div>
    </li>
  )
}

/** Messages that were already sent can exceed a cap. */
function overageOf({ limit, used, reserved }: Cap): number {
  return limit === null ? 0 : Math.max(0, used + reserved - limit)
}
