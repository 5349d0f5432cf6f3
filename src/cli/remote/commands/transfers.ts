/** Units that go from one user to another, and requests for more. */
import {
  ApproveReq,
  DeclineReq,
  type IncreaseRequest,
  IncreaseRequestParams,
  IncreaseRequestsQuery,
} from '../../../contract/increase-requests.ts'
import { QuotaParams } from '../../../contract/quotas.ts'
import { ReturnReq, type Transfer, TransferParams, TransferReq, TransfersQuery } from '../../../contract/transfers.ts'
import type { Command } from '../../command.ts'
import { LOCAL_TIMES } from '../fields.ts'
import { list } from '../lists.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns, USER, withNone } from '../tables.ts'

export const TRANSFER_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'transfer',
    summary: 'Moves units of a grant to another user.',
    more: LOCAL_TIMES,
    operation: 'transferUnits',
    requests: [QuotaParams, TransferReq],
    operands: { id: 'QUOTA', to_user_id: 'USER' },
    examples: ['sms-quota transfer 164 8 --units 500 --reason "Branch in Lyon"'],
  }),
  remoteCommand({
    name: 'transfer return',
    summary: 'Gives units of a transfer back that are neither used nor reserved.',
    operation: 'returnUnits',
    requests: [TransferParams, ReturnReq],
    operands: { id: 'TRANSFER' },
    examples: ['sms-quota transfer return 1042', 'sms-quota transfer return 1042 --units 200'],
  }),
  remoteCommand({
    name: 'transfer list',
    summary: 'Lists transfers, newest first: of all users, or from and to one.',
    operation: 'listTransfers',
    requests: [TransfersQuery],
    show: list(
      columns<Transfer>(
        'id',
        'at',
        'user_id',
        USER,
        'quota_id',
        withNone('to_user_id', 'erased'),
        { title: 'to_user', value: row => row.to_user_name ?? row.to_user_ref, isOptional: true },
        withNone('to_quota_id', 'erased'),
        'units',
        'returned',
        'reason',
      ),
    ),
    examples: ['sms-quota transfer list --user-id 7'],
  }),
]

export const REQUEST_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'request list',
    summary: "Lists users' requests for more units, newest first.",
    operation: 'listIncreaseRequests',
    own: 'listMyIncreaseRequests',
    requests: [IncreaseRequestsQuery],
    show: list(
      columns<IncreaseRequest>(
        'id',
        'created_at',
        'user_id',
        USER,
        'quota_id',
        'units',
        withNone('until', 'for good'),
        'status',
        { title: 'granted', value: row => row.granted?.units },
        'decided_by',
        'reason',
      ),
    ),
    examples: ['sms-quota request list --status open', 'sms-quota request list --mine'],
  }),
  remoteCommand({
    name: 'request approve',
    summary: 'Gives a user the units that were asked for, or others.',
    more: LOCAL_TIMES,
    operation: 'approveIncreaseRequest',
    requests: [IncreaseRequestParams, ApproveReq],
    operands: { id: 'REQUEST' },
    examples: ['sms-quota request approve 1042', 'sms-quota request approve 1042 --units 300 --note "For the start."'],
  }),
  remoteCommand({
    name: 'request decline',
    summary: 'Declines a request for more units.',
    operation: 'declineIncreaseRequest',
    requests: [IncreaseRequestParams, DeclineReq],
    operands: { id: 'REQUEST' },
    examples: ['sms-quota request decline 1042 --note "Please order a larger package."'],
  }),
]
