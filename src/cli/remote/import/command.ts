import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { ENCODING_OPTION, encodingIn } from '../files.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'

export const IMPORT_COMMAND: Command = {
  name: 'import',
  summary: 'Imports quotas and plans of users from a file of CSV or newline-delimited JSON.',
  more: () => `The columns of CSV are the fields of a quota; an empty cell leaves a field out. Each row needs user_id, external_ref and limit.
In place of user_id, user_ref may name the user by the reference of another system.
A row whose user has an undeleted quota with this external_ref updates it, any other row creates one, so an import can be
repeated. A row with user_id and id, as exports have them, updates the quota with this id and never creates one. A row with
user_id and plan alone, the id or the name of one, gives the user its current version. The whole file is checked first; nothing is sent if a row is bad, or if two are for the same quota, or the plan of the same user. - reads stdin.

${EXIT_CODES}`,
  operands: [{ name: 'FILE' }],
  options: {
    'dry-run': { means: 'only print what would change' },
    errors: { value: 'FILE', means: 'write CSV with all that is wrong with the rows: line, column, message' },
    ...ENCODING_OPTION,
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota import quotas.csv --dry-run',
    'sms-quota import quotas.csv',
    'zcat quotas.ndjson.gz | sms-quota import -',
  ],
  async run(args, terminal) {
    const service = readAddress(args, terminal.env)
    const { progressLine } = await import('../../on-database.ts')
    const { importFile } = await import('./import.ts')
    return importFile(
      {
        file: args.operand(0),
        encoding: encodingIn(args),
        errorsFile: args.one('errors'),
        service,
        dryRun: args.has('dry-run'),
      },
      {
        print: terminal.print,
        complain: terminal.complain,
        progress: progressLine(),
      },
    )
  },
}
