import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { CONTINUED_BY, CONTINUES } from '../../../../src/domain/forecasts/raised-cap.ts'
import type { Api } from '../../api/types.ts'
import { uint } from '../../model/url-parameters.ts'
import { texts } from '../../texts/texts.ts'
import { metadataLabel } from './settings.ts'

type Metadata = Api['SmsQuota']['metadata']

/** Keys whose value is the id of another quota. */
const QUOTA_KEYS: ReadonlySet<string> = new Set(['extends_quota', CONTINUED_BY, CONTINUES])

/** Metadata, with words for the keys that the console itself writes, and links to the quotas they name. */
export function MetadataList({ metadata }: { metadata: Metadata }) {
  const entries = Object.entries(metadata)
  if (entries.length === 0) return texts.quota.settings.none
  return entries.map(([key, value]) => (
    <div key={key}>
      <bdi>{metadataLabel(key)}</bdi>: <Value name={key} value={value} />
    </div>
  ))
}

/** What a change added, changed and removed of the metadata. */
export function MetadataChanges({ before, after }: { before: Metadata; after: Metadata }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(key => before[key] !== after[key])
  return names.map(key => {
    const [old, current] = [before[key], after[key]]
    return (
      <div key={key}>
        <bdi>{metadataLabel(key)}</bdi>:{' '}
        {old !== undefined && (
          <del>
            <Value name={key} value={old} />
          </del>
        )}
        {old !== undefined && current !== undefined && <span aria-hidden>{' → '}</span>}
        {current !== undefined && (
          <ins>
            <Value name={key} value={current} />
          </ins>
        )}
      </div>
    )
  })
}

function Value({ name, value }: { name: string; value: string }) {
  if (!QUOTA_KEYS.has(name) || uint(value) === null) return <bdi>{value}</bdi>
  return (
    <Anchor component={Link} href={`/quotas/${value}`} inherit underline="always">
      {texts.quota.title(Number(value))}
    </Anchor>
  )
}
