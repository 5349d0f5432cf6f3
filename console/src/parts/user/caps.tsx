import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Moment } from '../moment.tsx'
import { nameOfQuota } from '../quota-words.ts'
import { Section } from '../section.tsx'
import { Units } from '../units.tsx'
import { UsageBar } from '../usage-bar.tsx'
import classes from './summary.module.css'

type Cap = Api['QuotaSummary']['caps'][number]

/** The ceilings over a user's grants, and how far away each is. */
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
  const name = <bdi>{nameOfQuota({ id: cap.quota_id, kind: 'cap', name: cap.name })}</bdi>
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
          {cap.window_end === null ? 'For good' : 'Until '}
          {cap.window_end !== null && <Moment at={cap.window_end} />}
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

/** A cap can be passed by what has gone out already. */
function overageOf({ limit, used, reserved }: Cap): number {
  return limit === null ? 0 : Math.max(0, used + reserved - limit)
}
