import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ViewedUser } from '../../model/addresses.ts'
import { headlineOf } from '../../model/answers.ts'
import { increasableGrants } from '../../model/increase-requests.ts'
import { newestQuotasQuery, summaryQuery } from '../../queries/user.ts'
import { adjustsQuotas, changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { GrantAction } from './grant-action.tsx'

interface GiveUnitsProps {
  user: ViewedUser
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

const { giveUnits } = texts.user

/** More units on a grant, or a first grant for a user without one. Empty for those who may give none. */
export function GiveUnits({ user, onDone }: GiveUnitsProps) {
  const caller = useCaller()
  const canGive = adjustsQuotas(caller)
  const { data } = useQuery({ ...newestQuotasQuery(user), enabled: canGive })
  const { data: summary } = useQuery({ ...summaryQuery(user), enabled: canGive })
  // Where a cap stops all messages, the button that helps is beside the reason.
  const isStopped = summary !== undefined && headlineOf(summary).main.denial?.reason === 'cap_reached'
  if (!canGive) return null
  if (data === undefined)
    return (
      <Button size="xs" disabled>
        {giveUnits}
      </Button>
    )
  const grants = increasableGrants(data.items)
  if (grants.length > 0)
    return (
      <GrantAction
        label={giveUnits}
        isSecond={isStopped}
        action={{ name: 'adjust', isRemedy: true }}
        grants={grants}
        unitsOf={({ remaining }) => remaining ?? 0}
        onDone={onDone}
      />
    )
  if (!changesQuotas(caller)) return null
  return (
    <Button component={Link} href={`/quotas/new?user_id=${user.user_id}`} size="xs">
      {giveUnits}
    </Button>
  )
}
