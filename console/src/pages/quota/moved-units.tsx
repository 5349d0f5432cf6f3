import { useQuery } from '@tanstack/react-query'
import { UserLink } from '../../components/user-link.tsx'
import { type MovedUnits, mayBeTransfer, type RecordedChange, type Transfer } from '../../model/transfers.ts'
import { latestTransfersQuery } from '../../queries/transfers.ts'
import { texts } from '../../texts/texts.ts'

/** The transfers that changes of a user's quotas may be the work of. Read only if one looks so. */
export function useTransfersBehind(
  user_id: number | undefined,
  changes: readonly RecordedChange[],
): readonly Transfer[] {
  const enabled = user_id !== undefined && changes.some(mayBeTransfer)
  const { data = [] } = useQuery({ ...latestTransfersQuery(user_id ?? 0), enabled })
  return data
}

/** What a transfer or a return did to a quota. */
export function MovedUnitsText({ moved: { did, units, with: other } }: { moved: MovedUnits }) {
  const { history } = texts.transfers
  if (did === 'cameBack') return history.cameBack(units)
  if (other === null) return history.gaveSome(units)
  return history[did](
    units,
    <UserLink user={other} unnamed={texts.transfers.user(other.user_id)} inherit underline="always" />,
  )
}
