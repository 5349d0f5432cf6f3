import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../formats.ts'
import { Section } from '../section.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { Units } from '../values.tsx'
import classes from './summary.module.css'

type Scope = Api['QuotaSummary']['breakdown'][number]

/** Limits and usage by destinations and message types. */
export function ScopeBreakdown({ breakdown }: { breakdown: readonly Scope[] }) {
  return (
    <Section title="By scope">
      <ul className={classes.rows}>
        {breakdown.map(scope => (
          <li key={JSON.stringify([scope.countries, scope.message_types])} className={classes.row}>
            <div className={classes.name}>
              {joinNames(scope.countries?.map(countryLabel) ?? ['All destinations'])}
              <div className={classes.about}>{joinNames(scope.message_types ?? ['All message types'])}</div>
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

/** Enough to identify a scope, which can have hundreds of countries. */
const MAX_NAMED = 5

function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  return more <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more`
}

/** In every row, limit + overage = used + reserved + remaining. */
function overageOf({ limit, used, reserved, remaining }: Scope): number {
  return limit === null || remaining === null ? 0 : used + reserved + remaining - limit
}
