import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

const counted = (count: number) => `${formatUnits(count)} ${count === 1 ? 'change' : 'changes'}`

/** What administrators changed, of one user or of all. */
export const changes = {
  title: 'Changes',
  about: 'Who changed what, from what to what, and why, over all users, newest first.',
  table: 'Changes',
  columns: {
    what: 'What',
    user: 'User',
    change: 'Change',
    difference: 'Difference',
    reason: 'Reason',
    by: 'By',
    at: 'At',
    request: 'Request',
  },
  actions: {
    created: 'Created',
    updated: 'Changed',
    deleted: 'Deleted',
    erased: 'Data erased',
    archived: 'Archived',
    lifted: 'Lifted',
    approved: 'Approved',
    declined: 'Declined',
    withdrawn: 'Withdrawn',
    confirmed: 'Confirmed',
    disabled: 'Disabled by the service',
    secret_rotated: 'Secret rotated',
    secret_discarded: 'Secret replaced, because it could not be decrypted',
  },
  things: {
    breaker: 'Breaker',
    user: 'Data of a user',
    address: 'Address for messages',
    request: 'Request for more units',
    webhook: (name: string) => `Webhook “${name}”`,
    rateCard: (name: string) => `Rate card “${name}”`,
    plan: (name: string) => `Plan “${name}”`,
    pause: (country: string) => `Paused: ${country}`,
  },
  planMoved: ({ name, from, to }: { name: string; from: number; to: number }) =>
    `Plan ${name}, version ${from} → ${to}`,
  version: (version: number) => `Version ${version}`,
  fromTo: (from: ReactNode, to: ReactNode) => (
    <>
      {from} → {to}
    </>
  ),
  pausedUntil: (until: string | null) => (until === null ? 'until it is lifted' : `until ${until}`),
  unitsUntil: (units: number, until: string) => `${values.units(units)} until ${until}`,
  mode: 'Mode',
  unlimited: 'unlimited',

  filters: {
    raised: { label: 'Kind', all: 'All changes' },
    raises: { true: 'Limits raised' },
    resource: { label: 'Of', all: 'Everything' },
    resources: {
      quota: 'Quotas',
      plan: 'Plans',
      rate_card: 'Rate cards',
      profile: 'Profiles',
      address: 'Addresses for messages',
      increase_request: 'Requests for more units',
      pause: 'Paused destinations',
      breaker: 'Breaker',
      webhook: 'Webhooks',
      user: 'Erasures',
    },
    actor: { label: 'By', all: 'Subject of a token', error: 'Up to 255 characters: the subject of a token' },
  },
  aboutRaised: 'Limits that allow more than before, and grants that no plan and no transfer gave.',
  exporting: {
    button: 'Export CSV',
    running: (count: number) => `${counted(count)} exported…`,
    done: (count: number) => `${counted(count)} exported.`,
    cancel: 'Stop the export',
  },

  none: 'No changes',
  noneAbout: 'Changes appear here.',
  noneOfUser: 'Changes of this user’s quotas appear here.',
}
