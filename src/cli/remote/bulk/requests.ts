/** The fields of changes of many, and what `quota bulk` selects and changes. */
import { BULK_CHANGES, BulkSelection } from '../../../contract/bulk.ts'
import { GiveReq } from '../../../contract/give.ts'
import { RollOutReq } from '../../../contract/roll-out.ts'
import { MAX_BULK_IDS } from '../../../domain/basics/bounds.ts'
import { columnNames } from '../../../domain/quotas/quota-file.ts'
import { REFERENCE, REFERENCE_NAME } from '../../../domain/quotas/user-file.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { type Field, fieldsOf, type Request, readAlternative, readFields } from '../fields.ts'
import { contentOf, csvRowsOf, encodingIn } from '../files.ts'

/** The fields of a selection, and those of the changes but for the action. */
export const SELECTION_FIELDS = fieldsOf([BulkSelection])
export const CHANGE_FIELDS = fieldsOf([BULK_CHANGES.adjust, BULK_CHANGES.extend]).filter(
  ({ option }) => option !== 'action',
)

/** The fields of a gift but for its users, which a file names. */
export const GIVE_FIELDS = fieldsOf([GiveReq]).filter(({ option }) => option !== 'users')

/** The fields that say who gets a plan in a roll-out. */
export const ROLL_OUT_FIELDS = fieldsOf([RollOutReq]).filter(({ option }) => option !== 'dry-run')

/** Which quotas, and what becomes of them. @throws UsageError */
export async function readRequest(args: Arguments, timeZone: string): Promise<{ select: Request; change: Request }> {
  const select = readFields(SELECTION_FIELDS, args, timeZone)
  await addIds(select, 'ids', args)
  await addIds(select, 'user_ids', args)
  if (Object.keys(select).length === 0) {
    const options = ['--ids-from', '--user-ids-from', ...SELECTION_FIELDS.map(({ option }) => `--${option}`)]
    throw new UsageError(`which quotas? Give at least one of ${options.join(', ')}`)
  }
  const change = { action: args.operand(0), ...readFields(CHANGE_FIELDS, args, timeZone) }
  return { select, change }
}

/** @throws UsageError */
async function addIds(select: Request, field: 'ids' | 'user_ids', args: Arguments): Promise<void> {
  const option = `${field.replace('_', '-')}-from`
  const file = args.one(option)
  if (file === undefined) return
  if (field in select) throw new UsageError(`give --${option.replace('-from', '')} or --${option}, not both`)
  const [of] = SELECTION_FIELDS.filter(({ path: [name] }) => name === field)
  select[field] = idsOf(await contentOf(file, `--${option}`, encodingIn(args)), option, of)
}

/** What stands for an id in a file. */
interface Word {
  line: number
  text: string
}

/** A first line without a digit or a reference is a title, as in CSV. @throws UsageError for a word that is no id */
function idsOf(content: string, option: string, field: Field | undefined): (number | string)[] {
  const [first = ''] = content.split(/[\r\n]/, 1)
  const isTitled = !/^\s*(?:$|ref:)|\d/.test(first)
  const ids = (isTitled ? wordsOfColumn(content, option) : wordsOf(content)).map(({ line, text }) => {
    const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(id)) return id
    const other = field && readAlternative(text, field, `--${option}: line ${line}`)
    if (other !== undefined) return other
    throw new UsageError(`--${option}: line ${line} is a list of ids, not "${text.slice(0, 40)}"`)
  })
  if (ids.length === 0) throw new UsageError(`--${option} has no ids`)
  return [...new Set(ids)]
}

function wordsOf(content: string): Word[] {
  return content.split(/\r\n|\r|\n/).flatMap((line, index) =>
    line
      .split(/[\s,;]+/)
      .filter(text => text !== '')
      .map(text => ({ line: index + 1, text })),
  )
}

/** The numbers of other columns must never be taken for ids. @throws UsageError */
function wordsOfColumn(content: string, option: string): Word[] {
  const [title, ...rows] = csvRowsOf(content, `--${option}`)
  const columns = title?.cells.filter(isFilled).length ?? 0
  if (columns > 1)
    throw new UsageError(`--${option} is a list of ids, or CSV with one column of them, not with ${columns} columns`)
  const prefix = title !== undefined && columnNames(title).includes(REFERENCE_NAME) ? REFERENCE : ''
  return rows.map(({ line, cells }) => {
    const filled = cells.filter(isFilled)
    // A reference may have a comma, and then it is quoted.
    return { line, text: `${filled.length === 1 ? prefix : ''}${filled.join(',').trim()}` }
  })
}

const isFilled = (cell: string) => cell.trim() !== ''

/** The parts of a request, each with at most as many ids or users as a call may have. */
export function divided(select: Request): Request[] {
  const field = ['ids', 'user_ids', 'users'].find(name => Array.isArray(select[name]))
  const ids: unknown = field === undefined ? [] : select[field]
  if (field === undefined || !Array.isArray(ids) || ids.length <= MAX_BULK_IDS) return [select]
  const count = Math.ceil(ids.length / MAX_BULK_IDS)
  return Array.from({ length: count }, (_, part) => ({
    ...select,
    [field]: ids.slice(part * MAX_BULK_IDS, (part + 1) * MAX_BULK_IDS),
  }))
}
