import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'

export const EXPORT_COMMAND: Command = {
  name: 'export',
  summary: 'Exports quotas, usage, denials, the ledger (all reservations) or the audit (all changes) to stdout.',
  more: () => `Administrators and auditors may. An export that fails is not complete.\n\n${EXIT_CODES}`,
  operands: [{ name: 'WHAT', values: ['quotas', 'usage', 'denials', 'ledger', 'audit'] }],
  options: {
    format: { value: 'FORMAT', values: ['ndjson', 'csv'], means: 'ndjson, a JSON object a line (default), or csv' },
    fields: { value: 'NAMES', means: 'the columns of CSV, such as user_id,limit; default all' },
    filter: {
      value: 'NAME=VALUE',
      multiple: true,
      means:
        'a filter of the list, such as user_id=7, user_id=ref:customer-1042 or from=2026-03-01T00:00:00Z; can be repeated',
    },
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota export quotas --format csv',
    'sms-quota export quotas --format csv --fields user_id,external_ref,limit --filter status=active',
    'sms-quota export ledger --filter user_id=7',
    'sms-quota export audit --format csv --filter raised=true --filter from=2026-03-01T00:00:00Z',
  ],
  async run(args, terminal) {
    const service = readAddress(args, terminal.env)
    const { exportRecords } = await import('./export.ts')
    return exportRecords(args, service, terminal)
  },
}
