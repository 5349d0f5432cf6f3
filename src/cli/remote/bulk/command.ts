import { BULK_ACTIONS } from '../../../domain/bulk-change.ts'
import type { Options } from '../../arguments.ts'
import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { optionsOf } from '../fields.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'
import { CHANGE_FIELDS, SELECTION_FIELDS } from './requests.ts'

const FILES: Options = {
  'ids-from': {
    value: 'FILE',
    means: 'these quotas: a file of ids, separated by line breaks, blanks or commas; - is stdin',
  },
  'user-ids-from': { value: 'FILE', means: 'only quotas of these users: a file of ids in the same form' },
}

/** The command `quota bulk`. */
export const BULK_COMMAND: Command = {
  name: 'quota bulk',
  summary: 'Makes one change to many quotas: suspend, resume, extend, adjust or delete.',
  more: () => `First it shows how many quotas would change, with examples, and asks; --yes does not ask, --dry-run only shows. A time without an
offset is local. If it is interrupted, run it again with the idempotency key that it prints: each quota is changed at most once.

${EXIT_CODES}`,
  operands: [{ name: 'ACTION', values: BULK_ACTIONS }],
  options: {
    ...optionsOf(SELECTION_FIELDS),
    ...FILES,
    ...optionsOf(CHANGE_FIELDS),
    'dry-run': { means: 'only show what would change' },
    yes: { short: 'y', means: 'change without asking' },
    'idempotency-key': { value: 'KEY', means: 'go on with the bulk change of this key; default a new one' },
    json: { means: 'print what the API reports, a line of JSON for each record' },
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota quota bulk suspend --name "Trial" --dry-run',
    'sms-quota quota bulk adjust --user-ids 7,8,9 --name "Monthly package" --delta 500 --reason "Goodwill" --yes',
    'sms-quota quota bulk extend --user-ids-from users.txt --kind grant --by P1M --yes',
  ],
  async run(args, terminal) {
    const service = readAddress(args, terminal.env)
    const { progressLine } = await import('../../on-database.ts')
    const { changeMany } = await import('./bulk.ts')
    return changeMany(args, service, terminal, progressLine())
  },
}
