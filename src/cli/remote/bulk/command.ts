import { BULK_ACTIONS } from '../../../domain/quotas/bulk-change.ts'
import { REFERENCE_NAME, UNIT_NAMES, USER_NAMES } from '../../../domain/quotas/user-file.ts'
import type { Options } from '../../arguments.ts'
import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { optionsOf } from '../fields.ts'
import { ENCODING_OPTION } from '../files.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'
import { CONFIRMED_OPTIONS } from './confirmed.ts'
import { CHANGE_FIELDS, GIVE_FIELDS, SELECTION_FIELDS } from './requests.ts'

const FILES: Options = {
  'ids-from': {
    value: 'FILE',
    means: 'these quotas: a file of ids, separated by line breaks, blanks or commas, or CSV of one column; - is stdin',
  },
  'user-ids-from': {
    value: 'FILE',
    means: `only quotas of these users: a file in the same form, of ids, or of ref: and references, or of a column ${REFERENCE_NAME}`,
  },
  ...ENCODING_OPTION,
}

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
    ...CONFIRMED_OPTIONS,
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

export const GIVE_COMMAND: Command = {
  name: 'quota give',
  summary: 'Gives the users of a file more units.',
  more: () => `The file is CSV with a column of user ids (${USER_NAMES.join(', ')}), and ${UNIT_NAMES.join(', ')} if the units differ; a file of ids
alone needs no title. ref: and a reference may stand in place of an id, and a column ${REFERENCE_NAME} has references alone. - reads stdin. Of the grants with the chosen period, the one that pays first gets the units; a user without one is left
out. First it shows who would get units and who not, and asks; --yes does not ask, --dry-run only shows. The same units for the same reason
are given once in each window, also by another run; those for_good by each run. If it is interrupted, run it again with the key that it prints.

${EXIT_CODES}`,
  operands: [{ name: 'FILE' }],
  options: {
    ...optionsOf(GIVE_FIELDS),
    report: {
      value: 'FILE',
      means: 'write CSV with a line for each line of the file: what the user gets, or why nothing',
    },
    ...ENCODING_OPTION,
    ...CONFIRMED_OPTIONS,
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota quota give users.txt --period month --units 500 --reason "Outage in March" --dry-run',
    'sms-quota quota give users.txt --period month --units 500 --reason "Outage in March" --yes --report given.csv',
    'sms-quota quota give users.txt --period null --until month_end --units 500 --reason "Campaign" --yes',
  ],
  async run(args, terminal) {
    const service = readAddress(args, terminal.env)
    const { progressLine } = await import('../../on-database.ts')
    const { giveMany } = await import('./give.ts')
    return giveMany(args, service, terminal, progressLine())
  },
}
