/** The command `plan roll-out`: shows what would become of users, asks, and gives them the current version of a plan. */
import type { PlanDetail, RollOutRecord } from '../../../../client/src/api.ts'
import type { RollOutInput } from '../../../../client/src/main.ts'
import { toCamel } from '../../../../client/src/names.ts'
import { PlanParams } from '../../../contract/plans.ts'
import type { Arguments } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type RunOptions, runConfirmed } from '../bulk/confirmed.ts'
import { createManyRun, inWords, MAX_EXAMPLES, type ManyReport } from '../bulk/many-run.ts'
import { ROLL_OUT_FIELDS } from '../bulk/requests.ts'
import { valueText } from '../changes.ts'
import { type Field, putValue, readFields } from '../fields.ts'
import { withIds } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'

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
      runOf(callOf, options) {
        const calls = [client.rollOut(input, { ...callOf(0), ifMatch: plan.version })]
        return createManyRun(calls, createReport(plan, options), options)
      },
    }
  })
}

const PLAN: Field = {
  path: ['id'],
  option: '',
  schema: PlanParams.properties.id,
  isNullable: false,
  isRequired: true,
  alternative: 'plan',
}

/** How the command line names a field of the request: `/from_version`. */
const nameOf = (path: string) =>
  path === '/id' || path === 'id' ? 'PLAN' : `--${safe(path).replace(/^\//, '').replaceAll('_', '-')}`

type Counts = Omit<Extract<RollOutRecord, { record: 'end' }>, 'record'>
type Sample = Extract<RollOutRecord, { record: 'sample' }>

function createReport(plan: PlanDetail, { terminal, isDryRun }: RunOptions): ManyReport<RollOutRecord> {
  const examples: Sample[] = []
  let isBegun = false
  let counts: Counts | undefined
  const changed = () => counts?.users.changed ?? 0
  return {
    noun: 'user',
    get counts() {
      return { changed: changed(), failed: counts?.users.failed ?? 0 }
    },
    take(record) {
      switch (record.record) {
        case 'begin': {
          const wasBegun = isBegun
          isBegun = true
          return wasBegun ? 'The connection broke off. What was done before that is not in the counts.' : undefined
        }
        case 'failed':
          return `user ${record.userId}: ${record.detail}`
        case 'exhausted':
          return `user ${record.userId}: nothing left in ${record.slots.join(', ')}`
        case 'carried':
          return `user ${record.userId}: begins with ${usedIn(record)}`
        case 'again':
          return `user ${record.userId}: gets again ${usedIn(record)}`
        case 'sample':
          if (examples.length < MAX_EXAMPLES) examples.push(record)
          return undefined
        case 'end':
          counts = record
      }
      return undefined
    },
    question() {
      const { made = 0, changed: moved = 0, ended = 0 } = counts?.quotas ?? {}
      const quotas = inWords(made + moved + ended, 'quota')
      return `Give version ${plan.version} of ${plan.name} to ${inWords(changed(), 'user')}, which makes, changes or ends ${quotas}?`
    },
    summary() {
      const shown = examples.length
      const table = shown === 0 ? '' : tableOf(examples, EXAMPLES, terminal)
      const rest = shown > 0 && shown < changed() ? `the first ${shown} of ${inWords(changed(), 'user')}\n` : ''
      const lines = counts === undefined ? [] : linesOf(counts)
      return `${table}${rest}${lines.join('\n')}${isDryRun ? '\n' : ''}`
    },
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
