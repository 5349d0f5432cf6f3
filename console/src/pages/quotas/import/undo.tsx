import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Api } from '../../../api/types.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { formatUnits } from '../../../formats.ts'
import { extrasOf, type Gift } from '../../../model/give-plan.ts'
import { quotasOfUsersQuery } from '../../../queries/gifts.ts'
import { texts } from '../../../texts/texts.ts'
import BulkPanel from '../bulk/bulk-panel.tsx'
import { Failures } from '../jobs/job-view.tsx'
import { placeOf } from './give-words.ts'

const { give, jobs } = texts.manyQuotas

type Quota = Api['SmsQuota']

/** Deletes the grants that an import has made, but for those whose units are used or reserved. Limits stay raised. */
export function Undo({ gifts, onClose }: { gifts: readonly Gift[]; onClose: () => void }) {
  const extras = extrasOf(gifts)
  const [users] = useState(() => extras.map(({ quota: { user_id } }) => ({ user_id })))
  const [done, setDone] = useState(0)
  const found = useQuery(quotasOfUsersQuery(users, setDone))
  return (
    <Loaded query={found} loading={<Text role="status">{give.finding(done, users.length)}</Text>}>
      {quotasOf => {
        const created = extras.flatMap(gift =>
          (quotasOf.get(gift.quota.user_id) ?? [])
            .filter(({ external_ref }) => external_ref === gift.reference)
            .map(quota => ({ place: placeOf(gift), quota })),
        )
        const kept = created.filter(({ quota }) => isTouched(quota))
        const untouched = created.flatMap(({ quota }) => (isTouched(quota) ? [] : [[quota.id, quota] as const]))
        return (
          <Stack gap="sm">
            {extras.length < gifts.length && (
              <Text size="sm">{give.undo.stayRaised(gifts.length - extras.length)}</Text>
            )}
            {kept.length > 0 && <Text size="sm">{give.undo.kept(kept.length)}</Text>}
            <Failures
              label={give.undo.kept(kept.length)}
              failed={kept.length}
              failures={kept.map(({ place, quota: { used, reserved, limit } }) => ({
                place,
                reason: give.undo.touched,
                detail: give.undo.units(formatUnits((used ?? 0) + (reserved ?? 0)), formatUnits(limit ?? 0)),
              }))}
            />
            {untouched.length > 0 ? (
              <BulkPanel
                action="delete"
                title={give.undo.title}
                selection={{ by: 'ids', quotas: new Map(untouched) }}
                onClose={onClose}
              />
            ) : (
              <>
                <Text size="sm" role="status">
                  {give.undo.none}
                </Text>
                <Button variant="default" w="fit-content" onClick={onClose}>
                  {jobs.close}
                </Button>
              </>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

const isTouched = ({ used, reserved }: Quota) => (used ?? 0) > 0 || (reserved ?? 0) > 0
