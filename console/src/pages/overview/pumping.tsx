import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { DAY_MS } from '../../../../src/domain/time.ts'
import type { Column } from '../../components/data-table.tsx'
import { whyOf } from '../../components/paused-text.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { TimeOrDate } from '../../components/values.tsx'
import { countryLabel } from '../../formats.ts'
import { observedSince, type Pause } from '../../model/pauses.ts'
import { type EnteredShare, enteredShares } from '../../model/traffic.ts'
import { useLiveBreaker } from '../../queries/breaker.ts'
import { useDestinations } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import classes from './overview.module.css'
import { FirstRows, HeadlineNumber } from './parts.tsx'

const words = texts.overviewParts.pumping

/** Enough to see what goes on. */
const MAX_SHOWN = 3

/** What is paused now, what the breaker only observed, and how many codes were entered. Nothing where there is nothing. */
export default function Pumping() {
  const { data: breaker } = useLiveBreaker()
  const { now, usual } = useDestinations('country')
  if (breaker === undefined) return null
  const { active, active_count, latest } = breaker
  const observed = observedSince(latest, Date.now() - DAY_MS)
  const shares = enteredShares([now.data?.sums, usual].filter(sums => sums !== undefined))
  if (active_count === 0 && observed.pauses.length === 0 && shares.length === 0) return null
  return (
    <Section
      isFramed
      title={words.title}
      aside={
        <Anchor component={Link} href="/pauses" size="sm">
          {words.all}
        </Anchor>
      }
    >
      {active_count > 0 && (
        <>
          <HeadlineNumber value={active_count} href="/pauses">
            {words.paused(active_count)}
          </HeadlineNumber>
          <Pauses pauses={active} />
        </>
      )}
      {observed.pauses.length > 0 && (
        <>
          <Anchor component={Link} href="/pauses?show=all&origin=breaker" size="sm">
            {words.observed(observed.pauses.length, observed.isMore)}
          </Anchor>
          <Pauses pauses={observed.pauses} />
        </>
      )}
      {shares.length > 0 && (
        <>
          <p className={classes.about}>{words.entered}</p>
          <FirstRows
            list="entered"
            label={words.entered}
            columns={COLUMNS}
            rows={shares}
            keyOf={({ country }) => country}
          />
          <p className={classes.about}>{words.enteredAbout}</p>
        </>
      )}
    </Section>
  )
}

/** The newest ones: what, whose, why, and until when. */
function Pauses({ pauses }: { pauses: readonly Pause[] }) {
  return (
    <ul className={classes.pauses}>
      {pauses.slice(0, MAX_SHOWN).map(({ id, country, user_id, until, observed, evidence, reason, ...names }) => (
        <li key={id}>
          <strong>{countryLabel(country)}</strong>
          {': '}
          {user_id === null ? texts.pauses.allUsers : <UserLink user={{ user_id, ...names }} />}
          {/* What is only observed ends nowhere. */}
          {until !== null && !observed && <> {words.until(<TimeOrDate at={until} />)}</>}
          <div className={classes.about}>{whyOf({ evidence, reason })}</div>
        </li>
      ))}
    </ul>
  )
}

const COLUMNS: readonly Column<EnteredShare>[] = [
  { label: words.columns.country, kind: 'name', cell: ({ country }) => countryLabel(country) },
  {
    label: words.columns.entered,
    kind: 'number',
    cell: ({ messages, verified }) => texts.overview.destinations.entered(messages, verified),
  },
]
