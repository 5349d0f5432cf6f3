/** Commands for rate cards: what messages cost in units. */
import { RateCardParams, RateCardsQuery, RateLinesQuery, UpdateRateCardReq } from '../../../contract/rate-cards.ts'
import { csvLine } from '../../../domain/basics/csv.ts'
import type { RateLine } from '../../../domain/rates/rate-line.ts'
import type { Options } from '../../arguments.ts'
import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { safeLines } from '../../safe.ts'
import { done } from '../answers.ts'
import { APPLY_OPTIONS } from '../bulk/confirmed.ts'
import { SCALE_OPTION } from '../decimals.ts'
import { LOCAL_TIMES, optionsOf } from '../fields.ts'
import { ENCODING_OPTION } from '../files.ts'
import { list } from '../lists.ts'
import type { Presentation } from '../presentation.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns } from '../tables.ts'
import { FROM } from './price-file.ts'

type ListedCard = {
  id: number
  version: number
  name: string
  is_default: boolean
  lines: number
  updated_at: string
  updated_by: string
}

const FILE_COLUMNS = ['prefix', 'country', 'message_type', 'per_segment', 'per_message'] as const

/** All lines, as a file that `rates import` reads. */
const priceFile: Presentation = {
  hides: ['page_size', 'cursor'],
  async run({ args, terminal, ask, printJson }) {
    let cursor: string | null = null
    if (!args.has('json')) await terminal.print(csvLine(FILE_COLUMNS))
    do {
      const position: object = cursor === null ? {} : { cursor }
      const page = (await ask({ ...position, page_size: 200 })) as { items: RateLine[]; next_cursor: string | null }
      for (const line of page.items)
        if (args.has('json')) await printJson(line)
        else await terminal.print(safeLines(csvLine(FILE_COLUMNS.map(name => line[name]))))
      cursor = page.next_cursor
    } while (cursor !== null)
    return 0
  },
}

const column = (means: string) => ({ value: 'COLUMN', means })
const IMPORT_OPTIONS: Options = {
  card: {
    value: 'CARD',
    means: 'required; the id of the card, or its name; a card of the name is made if there is none',
  },
  default: { means: 'make the new card the default' },
  prefix: column('the column of prefixes; default prefix'),
  country: column('the column of countries, by their ISO codes; default country'),
  type: column('the column of message types; default message_type'),
  price: column('the column of what a segment costs; default per_segment'),
  'per-message': column('the column of what a message costs beside its segments; default per_message'),
  ...SCALE_OPTION,
  rest: { value: 'UNITS', means: 'what a segment to all other destinations costs, if no line says it' },
  ...optionsOf(FROM),
  ...ENCODING_OPTION,
}

export const RATE_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'rates list',
    summary: 'Lists rate cards, newest first.',
    operation: 'listRateCards',
    requests: [RateCardsQuery],
    show: list(columns<ListedCard>('id', 'version', 'name', 'is_default', 'lines', 'updated_at', 'updated_by')),
    examples: ['sms-quota rates list', 'sms-quota rates list --archived true'],
  }),
  remoteCommand({
    name: 'rates get',
    summary: 'Shows a rate card, its lists of prices, and how many plans and users have it.',
    operation: 'getRateCard',
    requests: [RateCardParams],
    operands: { id: 'CARD' },
    names: 'rate_card',
    examples: ['sms-quota rates get 1', 'sms-quota rates get Standard'],
  }),
  remoteCommand({
    name: 'rates update',
    summary: 'Renames a rate card, or makes it the default. Prices change by an import.',
    operation: 'updateRateCard',
    requests: [RateCardParams, UpdateRateCardReq],
    operands: { id: 'CARD' },
    names: 'rate_card',
    takesVersion: true,
    examples: ['sms-quota rates update Standard --is-default true', 'sms-quota rates update 1 --name Standard'],
  }),
  {
    name: 'rates import',
    summary: 'Sets the prices of a rate card to those of a file of CSV, or makes the card.',
    more: () => `Each line has a prefix (49, +49, 0049, a range 49151-49153, or several with blanks, ; or , between) or a country, and a price. A line
with neither, or with *, ROW or Rest of world in their place, is for all other destinations. Of a line with both, the prefix counts.
The file is the whole list: what it does not name is gone. All of it is checked first. Then it shows what would become dearer or cheaper,
and asks; --yes does not ask, --dry-run only shows. The same file again changes nothing. - reads stdin.

${LOCAL_TIMES()}

${EXIT_CODES}`,
    operands: [{ name: 'FILE' }],
    options: { ...IMPORT_OPTIONS, ...APPLY_OPTIONS, ...CONNECTION_OPTIONS, ...HELP_OPTION },
    examples: [
      'sms-quota rates import prices.csv --card Standard --price price --scale 10000 --dry-run',
      'sms-quota rates import prices.csv --card Standard --prefix "Dial code" --price Rate --scale 10000 --rest 400 --from 2027-01-01',
    ],
    async run(args, terminal) {
      const service = readAddress(args, terminal.env)
      const { importPrices } = await import('./import.ts')
      return importPrices(args, service, terminal)
    },
  },
  remoteCommand({
    name: 'rates export',
    summary: 'Writes the prices of a rate card to stdout, as CSV that "rates import" reads.',
    operation: 'listRateLines',
    requests: [RateCardParams, RateLinesQuery],
    operands: { id: 'CARD' },
    names: 'rate_card',
    show: priceFile,
    examples: ['sms-quota rates export Standard', 'sms-quota rates export 1 --version 2 --prefix 49'],
  }),
  remoteCommand({
    name: 'rates archive',
    summary: 'Archives a rate card that no plan and no user has, and that is not the default.',
    operation: 'archiveRateCard',
    requests: [RateCardParams],
    operands: { id: 'CARD' },
    names: 'rate_card',
    show: done(({ request }) => `Rate card ${request.id} is archived.`),
    examples: ['sms-quota rates archive 2'],
  }),
]
