import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { MAX_LOGGED_LINES } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import { countryLabel, formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { Timestamp } from '../values.tsx'
import classes from './denial-explanation.module.css'
import { DENIAL_REASON_TEXTS, verdictText } from './denial-labels.ts'
import { denialQuery, type Scope, userOf } from './denial-queries.ts'
import { QuotaLink } from './quota-link.tsx'

type Denial = Api['DenialDetail']

/** Why a message was denied: what was asked for, and what was found for each quota. */
export function DenialExplanation({ scope, denialId }: { scope: Scope; denialId: string }) {
  const denial = useQuery(denialQuery(scope, denialId))
  return (
    <Loaded query={denial} loading={<Loading rows={4} height={34} />}>
      {data => (
        <>
          <p className={classes.reason}>{DENIAL_REASON_TEXTS[data.reason]}</p>
          <Request denial={data} scope={scope} />
          <h3 className={classes.heading}>Quotas considered</h3>
          <Quotas denial={data} scope={scope} />
        </>
      )}
    </Loaded>
  )
}

function Request({ denial, scope }: { denial: Denial; scope: Scope }) {
  const { id, user_id, at, country, message_type, retry_at } = denial
  return (
    <dl className={classes.request}>
      <dt>Message</dt>
      <dd>
        <bdi>{id}</bdi>
      </dd>
      {!scope?.isOwn && (
        <>
          <dt>User</dt>
          <dd>
            <Anchor component={Link} href={`/users/${user_id}`} inherit>
              {user_id}
            </Anchor>
          </dd>
        </>
      )}
      <dt>Denied</dt>
      <dd>
        <Timestamp at={at} />
      </dd>
      <dt>For</dt>
      <dd>
        {country === null ? 'No country' : countryLabel(country)}
        {message_type !== null && `, ${message_type}`}
      </dd>
      <dt>Asked for</dt>
      <dd>{askedText(denial)}</dd>
      <dt>Try again from</dt>
      <dd>
        <Timestamp at={retry_at} none="Waiting does not help" />
      </dd>
    </dl>
  )
}

function askedText({ units, allow_partial, remaining }: Denial): string {
  const asked = `${texts.values.units(units)}${allow_partial ? ' or fewer' : ''}`
  // Null is unlimited, which a denial never is.
  if (remaining === null) return asked
  return `${asked}; ${remaining === 0 ? 'none' : formatUnits(remaining)} could have been sent`
}

function Quotas({ denial, scope }: { denial: Denial; scope: Scope }) {
  const { explain } = denial
  if (explain.length === 0) return <p className={classes.note}>There were no quotas.</p>
  return (
    <>
      <ul className={classes.quotas}>
        {explain.map(line => (
          <li key={line.quota_id}>
            <QuotaLink id={line.quota_id} kind={line.kind} user={userOf(scope, denial)} />
            <div className={classes.verdict}>
              {verdictText(line, denial)}
              {line.expires_at !== undefined && ' on '}
              {line.expires_at !== undefined && <Timestamp at={line.expires_at} />}
            </div>
          </li>
        ))}
      </ul>
      {explain.length >= MAX_LOGGED_LINES && (
        <p className={classes.note}>
          Others may be missing: the log keeps {MAX_LOGGED_LINES}, and those that had ended last.
        </p>
      )}
    </>
  )
}
