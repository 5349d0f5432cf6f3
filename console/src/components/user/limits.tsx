import { Anchor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { countryLabel, formatTimestamp } from '../../formats.ts'
import type { Raise } from '../../model/raised-cap.ts'
import type { Raises } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { Kind } from '../kind.tsx'
import { Section } from '../section.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { ExactTime, Units } from '../values.tsx'
import { capitalized } from './status.tsx'
import classes from './summary.module.css'

type Summary = Api['QuotaSummary']
type Cap = Summary['caps'][number]
type Grants = Summary['breakdown'][number]

interface LimitsProps {
  summary: Summary
  isOwn: boolean
}

interface CapsProps extends LimitsProps {
  raises: Raises
}

/** A user's caps: what is used and left, and when they reset. */
export function Caps({ summary: { caps }, raises, isOwn }: CapsProps) {
  const { title, ownTitle, about, ownAbout } = texts.user.caps
  return (
    <Section title={isOwn ? ownTitle : title}>
      <Text size="xs" c="dimmed" mb="xs">
        {isOwn ? ownAbout : about}
      </Text>
      <ul className={classes.rows}>
        {caps.map(cap => (
          <CapRow key={cap.quota_id} cap={cap} raise={raises.get(cap.quota_id)} isOwn={isOwn} />
        ))}
      </ul>
    </Section>
  )
}

function CapRow({ cap, raise, isOwn }: { cap: Cap; raise: Raise | undefined; isOwn: boolean }) {
  const { quota_id, period, countries, message_types, used, reserved } = cap
  const { caps } = texts.user
  const { messages, unnamed } = texts.values
  const name = <bdi>{cap.name ?? unnamed('cap', quota_id, isOwn)}</bdi>
  const isScoped = countries !== null || message_types !== null
  return (
    <li className={classes.row}>
      <div className={classes.name}>
        <Kind kind="cap" label={isOwn ? texts.user.ownKinds.cap : undefined}>
          {isOwn ? (
            name
          ) : (
            <Anchor component={Link} href={`/quotas/${quota_id}`} size="sm">
              {name}
            </Anchor>
          )}
        </Kind>
        <div className={classes.about}>
          {period !== null && `${caps.each[period]} · `}
          {isScoped && `${capitalized(messages(countries, message_types))} · `}
          {raise === undefined ? resetOf(cap) : texts.quotas.raised(raise.to, formatTimestamp(raise.until), raise.from)}
        </div>
      </div>
      {/* Messages that were already sent can exceed a cap. */}
      <UsageBar {...cap} overage={Math.max(0, used + reserved - (cap.limit ?? Number.POSITIVE_INFINITY))} />
      <div className={classes.left}>
        <Units value={cap.limit} />
        <div className={classes.about}>{caps.limit}</div>
      </div>
    </li>
  )
}

function resetOf({ period, window_end }: Cap): ReactNode {
  const { caps } = texts.user
  if (window_end === null) return caps.doesNotReset
  const at = <ExactTime at={window_end} />
  return period === null ? caps.ends(at) : caps.resets(at)
}

/** What the grants of each scope have left, if there are several or only scoped ones. */
export function GrantsByScope({ summary: { breakdown }, isOwn }: LimitsProps) {
  const { title, ownTitle, allCountries, allTypes, limit } = texts.user.scopes
  const isScoped = breakdown.some(({ countries, message_types }) => countries !== null || message_types !== null)
  // A single unrestricted scope would only repeat the totals.
  if (!isScoped) return null
  return (
    <Section title={isOwn ? ownTitle : title}>
      <ul className={classes.rows}>
        {breakdown.map(scope => (
          <li key={JSON.stringify([scope.countries, scope.message_types])} className={classes.row}>
            <div className={classes.name}>
              <Kind kind="grant" label={isOwn ? texts.user.ownKinds.grant : undefined}>
                {joinNames(scope.countries?.map(countryLabel) ?? [allCountries])}
              </Kind>
              <div className={classes.about}>{joinNames(scope.message_types ?? [allTypes])}</div>
            </div>
            <UsageBar {...scope} overage={overageOf(scope)} />
            <div className={classes.left}>
              <Units value={scope.limit} />
              <div className={classes.about}>{limit}</div>
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
  const shown = names.slice(0, MAX_NAMED).join(', ')
  return more <= 0 ? shown : texts.user.scopes.more(shown, more)
}

/** In every row, limit + overage = used + reserved + remaining. */
function overageOf({ limit, used, reserved, remaining }: Grants): number {
  return limit === null || remaining === null ? 0 : used + reserved + remaining - limit
}
