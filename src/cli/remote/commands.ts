/** The commands over the API. Their dispatch, options, help and completion come from this table. */
import type { Command } from '../command.ts'
import { AGENT_COMMAND } from './agent/command.ts'
import { BULK_COMMAND, GIVE_COMMAND } from './bulk/command.ts'
import { BREAKER_COMMANDS, PAUSE_COMMANDS } from './commands/pauses.ts'
import { QUOTA_COMMANDS } from './commands/quotas.ts'
import { READ_COMMANDS } from './commands/reads.ts'
import { SENDER_COMMANDS } from './commands/senders.ts'
import { REQUEST_COMMANDS, TRANSFER_COMMANDS } from './commands/transfers.ts'
import { EXPORT_COMMAND } from './export/command.ts'
import { IMPORT_COMMAND } from './import/command.ts'
import { PLAN_COMMANDS } from './plans/commands.ts'
import { RATE_COMMANDS } from './rates/commands.ts'
import { RECONCILE_COMMAND } from './reconcile/command.ts'

export const REMOTE_COMMANDS: readonly Command[] = [
  ...QUOTA_COMMANDS,
  ...PLAN_COMMANDS,
  ...RATE_COMMANDS,
  BULK_COMMAND,
  GIVE_COMMAND,
  IMPORT_COMMAND,
  EXPORT_COMMAND,
  RECONCILE_COMMAND,
  ...TRANSFER_COMMANDS,
  ...REQUEST_COMMANDS,
  ...PAUSE_COMMANDS,
  ...BREAKER_COMMANDS,
  ...READ_COMMANDS,
  ...SENDER_COMMANDS,
  AGENT_COMMAND,
]
