import type { Command } from '../../command.ts'
import { HELP_OPTION } from '../../help.ts'
import { LOCAL_TIMES, optionsOf } from '../fields.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'
import { BILL_OPTIONS, PERIOD } from './bill.ts'

export const RECONCILE_COMMAND: Command = {
  name: 'reconcile',
  summary: "Compares a provider's bill with what was charged, and settles what differs.",
  more: () => `The files are CSV with a line for each message; of a folder, all its files. A message is charged for the time at which it was reserved:
--from and --to bound that, and without them all that is kept is compared.

  equal           also what failed there and is refunded already
  other segments  or other units, than the bill has
  failed there    and is charged here
  still open      reserved, and neither committed nor released
  missing here    in the bill only, or without an id
  missing there   charged only
  several users   have the id: name their column with --user

--settle gives back what failed or was charged too much, and books, past any limit, what was charged too little. It sets totals, so it may be
stopped and repeated, and changes nothing twice. What is missing stays as it is. It first says what it would do, and asks; --yes does not ask.
The token needs the role admin or auditor; to settle, sender and force, too.

${LOCAL_TIMES()}

Exit codes: 0 equal, or settled, 1 differences are left, 2 could not (stderr says why, and what was settled before).
`,
  operands: [{ name: 'FILE', isRepeated: true }],
  options: {
    ...BILL_OPTIONS,
    ...optionsOf(PERIOD),
    report: { value: 'FILE', means: 'write CSV with a line for each message that is not equal' },
    settle: { means: 'settle what differs' },
    yes: { short: 'y', means: 'settle without asking' },
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota reconcile bill.csv --id reference --segments parts --from 2026-03-01 --to 2026-04-01 --report differences.csv',
    'sms-quota reconcile bills/ --id ref --price price --scale 10000 --status status --failed undelivered,rejected --settle',
  ],
  async run(args, terminal) {
    const service = readAddress(args, terminal.env)
    const { progressLine } = await import('../../on-database.ts')
    const { reconcile } = await import('./reconcile.ts')
    return reconcile(args, service, terminal, progressLine())
  },
}
