import { Group } from '@mantine/core'
import { userText } from '../../model/addresses.ts'
import { canDecide, type IncreaseRequest } from '../../model/increase-requests.ts'
import { texts } from '../../texts/texts.ts'
import type { Column } from '../data-table.tsx'
import { RowButton } from '../row-button.tsx'

const words = texts.increaseRequests

/** Who asked, in texts without links. */
export const askerOf = (request: IncreaseRequest) => userText(request, words.user(request.user_id))

type Decision = 'approve' | 'decline'

/** A request that is being decided. */
export interface Deciding extends Pick<IncreaseRequest, 'id' | 'user_id'> {
  decision: Decision
}

/**
 * The buttons that decide open requests.
 *
 * @param bound the units that the caller may give; null: any number
 */
export function decisionColumn(bound: number | null, onDecide: (deciding: Deciding) => void): Column<IncreaseRequest> {
  return {
    label: words.columns.action,
    cardLabel: () => '',
    cell: request => {
      const { id, user_id, status, units } = request
      if (status !== 'open') return null
      if (!canDecide(request, bound)) return words.askAdministrator
      const decide = (decision: Decision) => () => onDecide({ id, user_id, decision })
      return (
        <Group gap={6}>
          <RowButton label={words.approveFor(askerOf(request), units)} isFirst onClick={decide('approve')}>
            {words.approve}
          </RowButton>
          <RowButton label={words.declineFor(askerOf(request), units)} onClick={decide('decline')}>
            {words.decline}
          </RowButton>
        </Group>
      )
    },
  }
}
