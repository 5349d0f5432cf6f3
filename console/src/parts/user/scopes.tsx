import type { Api } from '../../api/types.ts'
import { countryLabel } from '../country.ts'
import { Section } from '../section.tsx'
import { Units } from '../units.tsx'
import { UsageBar } from '../usage-bar.tsx'
import classes from './summary.module.css'

type Scope = Api['QuotaSummary']['breakdown'][number]

/** What there is for which destinations and which types of message. */
export function Scopes({ breakdown }: { breakdown: readonly Scope[] }) {
  return (
    <Section title="By scope">
      <ul className={classes.rows}>
        {breakdown.map(scope => (
          <li key={JSON.stringify([scope.countries, scope.message_types])} className={classes.row}>
            <div className={classes.name}>
              {listWords(scope.countries?.map(countryLabel) ?? ['All destinations'])}
              <div className={classes.about}>{listWords(scope.message_types ?? ['All types of message'])}</div>
            </div>
            <UsageBar {...scope} overage={overageOf(scope)} />
            <div className={classes.left}>
              <Units value={scope.limit} />
              <div className={classes.about}>limit</div>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Enough to know which scope it is; one can have hundreds. */
const MAX_NAMED = 5

function listWords(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  return more <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more`
}

/** limit + overage = used + reserved + remaining, in every row. */
function overageOf({ limit, used, reserved, remaining }: Scope): number {
  return limit === null || remaining === null ? 0 : used + reserved + remaining - limit
}
