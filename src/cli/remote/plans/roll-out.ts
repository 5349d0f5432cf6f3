/** The command `plan roll-out`: shows what would become of users, asks, and gives them the current version of a plan. */
import type { PlanDetail, RollOutRecord } from '../../../../client/src/api.ts'
import type { RollOutInput } from '../../../../client/src/main.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import { PlanParams } from '../../../contract/plans.ts'
import type { Arguments } from '../../arguments.ts'
import { safe, safeJson } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type ConfirmedRun, MAX_PRINTED, type RunOptions, runConfirmed } from '../bulk/confirmed.ts'
import { ROLL_OUT_FIELDS } from '../bulk/requests.ts'
import { valueText } from '../changes.ts'
import { FAILED } from '../failures.ts'
import { type Field, putValue, readFields } from '../fields.ts'
import { withIds } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'

const MAX_EXAMPLES = 5

/** @returns the exit code: 0 if all users have the plan, 1 if some could not get it */
export async function rollOutPlan(
  args: Arguments,
  service: Address,
  terminal: Terminal,
  progress: RunOptions['progress'],
): Promise<number> {
  const request = readFields(ROLL_OUT_FIELDS, args, terminal.timeZone)
  putValue(request, args.operand(0), PLAN, 'PLAN', terminal.timeZone)
  return runConfirmed({ args, service, terminal, progress }, async ({ client, call }) => {
    const input = toCamel(await withIds(request, [PLAN, ...ROLL_OUT_FIELDS], call, progress)) as RollOutInput
    // The version that is shown is the one that is given.
    const plan = await client.getPlan({ id: input.id })
    return {
      nameOf,
      runOf: (callOf, options) =>
        new RollOutRun(plan, client.rollOut(input, { ...callOf(0), ifMatch: plan.version }), options),
    }
  })
}

const PLAN: Field = {
  path: ['id'],
  option: '',
  schema: PlanParams.properties.id,
  isNullable: false,
  isRequired: true,
  alternative: 'name',
}

/** How the command line names a field of the request: `/from_version`. */
const nameOf = (path: string) =>
  path === '/id' || path === 'id' ? 'PLAN' : `--${safe(path).replace(/^\//, '').replaceAll('_', '-')}`

type Counts = Omit<Extract<RollOutRecord, { record: 'end' }>, 'record'>
type Sample = Extract<RollOutRecord, { record: 'sample' }>

const inWords = (count: number, one: string) => (count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${one}s`)

class RollOutRun implements ConfirmedRun {
  private readonly plan: PlanDetail
  private readonly records: AsyncIterable<RollOutRecord>
  private readonly options: RunOptions
  private readonly examples: Sample[] = []
  private readonly printed = { failed: 0, exhausted: 0, carried: 0, again: 0 }
  private counts: Counts | undefined
  private bulkId: string | undefined

  constructor(plan: PlanDetail, records: AsyncIterable<RollOutRecord>, options: RunOptions) {
    this.plan = plan
    this.records = records
    this.options = options
  }

  get exitCode(): number {
    return this.counts?.users.failed === 0 ? 0 : FAILED
  }

  get question(): string | null {
    const { users, quotas } = this.counts ?? {}
    if (users === undefined || quotas === undefined || users.changed === 0) return null
    const { version, name } = this.plan
    const moved = inWords(quotas.made + quotas.changed + quotas.ended, 'quota')
    return `Give version ${version} of ${safe(name)} to ${inWords(users.changed, 'user')}, which makes, changes or ends ${moved}?`
  }

  async finish(): Promise<void> {
    for await (const record of this.records) await this.take(record)
    this.options.progress?.('')
  }

  private async take(record: RollOutRecord): Promise<void> {
    const { terminal, progress, isJson } = this.options
    if (isJson) await terminal.print(`${safeJson(JSON.stringify(toSnake(record)))}\n`)
    switch (record.record) {
      case 'begin':
        if (this.bulkId !== undefined)
          terminal.complain('The connection broke off. What was done before that is not in the counts.')
        this.bulkId = record.bulkId
        return
      case 'failed':
        return this.complain('failed', `user ${record.userId}: ${record.detail}`)
      case 'exhausted':
        return this.complain('exhausted', `user ${record.userId}: nothing left in ${record.slots.join(', ')}`)
      case 'carried':
        return this.complain('carried', `user ${record.userId}: begins with ${usedIn(record)}`)
      case 'again':
        return this.complain('again', `user ${record.userId}: gets again ${usedIn(record)}`)
      case 'sample':
        if (this.examples.length < MAX_EXAMPLES) this.examples.push(record)
        return
      case 'progress':
        progress?.(
          `${inWords(
            Object.values(record.users).reduce((sum, count) => sum + count, 0),
            'user',
          )} done`,
        )
        return
      case 'end':
        this.counts = record
    }
  }

  /** Users of a kind, as far as they are printed. */
  private complain(kind: 'failed' | 'exhausted' | 'carried' | 'again', line: string): void {
    this.printed[kind] += 1
    this.options.progress?.('')
    if (this.printed[kind] <= MAX_PRINTED) this.options.terminal.complain(safe(line))
  }

  async report(): Promise<void> {
    const { terminal, isDryRun, isJson } = this.options
    if (isJson || this.counts === undefined) return
    const shown = this.examples.length
    const { changed } = this.counts.users
    if (shown > 0) await terminal.print(tableOf(this.examples, EXAMPLES, terminal))
    if (shown > 0 && shown < changed) await terminal.print(`the first ${shown} of ${inWords(changed, 'user')}\n`)
    await terminal.print(
      `${[...linesOf(this.counts), ...(isDryRun ? ['(dry run: nothing was changed)'] : [])].join('\n')}\n`,
    )
    if (!isDryRun && this.counts.users.changed > 0)
      terminal.complain(`The audit shows the changes under the request ${this.bulkId}.`)
  }
}

/** "700 used in monthly" */
const usedIn = ({ slots }: Extract<RollOutRecord, { record: 'carried' | 'again' }>) =>
  slots.map(({ slot, used }) => `${used.toLocaleString('en')} used in ${slot}`).join(', ')

function linesOf({ users, quotas, exhausted, carried, again }: Counts): string[] {
  const left = users.leftOut === 0 ? [] : [`left out ${users.leftOut.toLocaleString('en')}`]
  const [changed, unchanged, failed] = [users.changed, users.unchanged, users.failed].map(n => n.toLocaleString('en'))
  const [made, moved, ended] = [quotas.made, quotas.changed, quotas.ended].map(n => n.toLocaleString('en'))
  return [
    `users: ${[`changed ${changed}`, `unchanged ${unchanged}`, ...left, `refused ${failed}`].join(', ')}`,
    `quotas: made ${made}, changed ${moved}, ended ${ended}`,
    ...(quotas.kept === 0 ? [] : [`${inWords(quotas.kept, 'quota')} with changes by hand that stay`]),
    ...(carried === 0 ? [] : [`${inWords(carried, 'user')} with units used before that count in a new quota`]),
    ...(again === 0 ? [] : [`${inWords(again, 'user')} with units used before that they get again`]),
    ...(exhausted === 0 ? [] : [`${inWords(exhausted, 'user')} with nothing left in a quota`]),
  ]
}

const EXAMPLES = columns<Sample>(
  { title: 'user_id', value: ({ userId }) => userId },
  {
    title: 'change',
    value: ({ slots, ended }) =>
      [
        ...slots.map(({ slot, outcome, kept, changes }) => {
          const moved = Object.entries(changes).map(
            ([field, [before, after]]) => `${field} ${valueText(before)} → ${valueText(after)}`,
          )
          const own = Object.entries(kept).map(([field, value]) => `${field} ${valueText(value)}`)
          const notes = [...moved, ...(own.length === 0 ? [] : [`keeps ${own.join(', ')}`])]
          return `${slot} ${outcome}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
        }),
        ...(ended === 0 ? [] : [`${inWords(ended, 'quota')} ended`]),
      ].join(', '),
  },
)
