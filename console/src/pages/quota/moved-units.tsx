import { useQuery } from '@tanstack/react-query'
import { UserLink } from '../../components/user-link.tsx'
import type { MovedUnits, RecordedChange, Transfer } from '../../model/transfers.ts'
import { latestTransfersQuery } from '../../queries/transfers.ts'
import { texts } from '../../texts/texts.ts'

/** The transfers that changes of a user's quotas are the work of. Read only if one is. */
export function useTransfersBehind(
  user_id: number | undefined,
  changes: readonly RecordedChange[],
): readonly Transfer[] {
  const enabled = user_id !== undefined && changes.some(({ transfer_id }) => transfer_id !== null)
  const { data = [] } = useQuery({ ...latestTransfersQuery(user_id ?? 0), enabled })
  return data
}

/** What a transfer or a return did to a quota. */
export function MovedUnitsText({ moved: { did, units, with: other } }: { moved: MovedUnits }) {
  return texts.transfers.history[did](
    units,
    other !== null && (
      <UserLink user={other} unnamed={texts.transfers.user(other.user_id)} inherit underline="always" />
    ),
  )
}
