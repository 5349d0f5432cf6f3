/** Paused destinations, and the breaker that pauses them. */
import { BreakerReq } from '../../../contract/breaker-settings.ts'
import { type Pause, PauseParams, PauseReq, PausesQuery } from '../../../contract/pauses.ts'
import type { Command } from '../../command.ts'
import { done } from '../answers.ts'
import { LOCAL_TIMES } from '../fields.ts'
import { list } from '../lists.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns, USER, withNone } from '../tables.ts'

const stateOf = ({ active, observed, lifted_at }: Pause) =>
  active ? 'active' : observed ? 'observed' : lifted_at === null ? 'ended' : 'lifted'

export const PAUSE_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'pause list',
    summary: 'Lists paused destinations, newest first, with those that have ended.',
    operation: 'listPauses',
    requests: [PausesQuery],
    show: list(
      columns<Pause>(
        'id',
        withNone('user_id', 'all'),
        USER,
        'country',
        'message_types',
        { title: 'state', value: stateOf },
        withNone('until', 'lifted'),
        'origin',
        'created_by',
        'reason',
      ),
    ),
    examples: ['sms-quota pause list --active true', 'sms-quota pause list --user-id 7 --country FR'],
  }),
  remoteCommand({
    name: 'pause make',
    summary: 'Denies messages to a country, of a user or of all (--user-id null).',
    more: LOCAL_TIMES,
    operation: 'createPause',
    requests: [PauseReq],
    operands: { country: 'COUNTRY' },
    examples: [
      'sms-quota pause make FR --user-id 7 --message-types otp --until 2027-01-31 --reason "Pumped codes"',
      'sms-quota pause make LV --user-id null',
    ],
  }),
  remoteCommand({
    name: 'pause lift',
    summary: 'Lifts a pause.',
    operation: 'liftPause',
    requests: [PauseParams],
    operands: { id: 'PAUSE' },
    show: done(({ request }) => `Pause ${request.id} is lifted.`),
    examples: ['sms-quota pause lift 12'],
  }),
]

export const BREAKER_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'breaker get',
    summary: 'Shows the settings of the breaker against pumped traffic, and what it saw lately.',
    operation: 'getBreaker',
    requests: [],
    examples: ['sms-quota breaker get'],
  }),
  remoteCommand({
    name: 'breaker set',
    summary: 'Changes settings of the breaker against pumped traffic.',
    operation: 'updateBreaker',
    requests: [BreakerReq],
    examples: ['sms-quota breaker set --mode enforce', 'sms-quota breaker set --pass-countries DE,AT'],
  }),
]
