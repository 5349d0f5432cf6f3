/** The command `plan apply`: shows how a plan differs from a file, asks, and makes it what the file says. */
import type { CreatePlanReq, Plan, UpdatePlanReq } from '../../../../client/src/api.ts'
import type { CallOptions, Client } from '../../../../client/src/main.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type ConfirmedRun, type RunOptions, runConfirmed } from '../bulk/confirmed.ts'
import type { Connection } from '../connection.ts'
import { contentOf } from '../files.ts'
import { oneNamed, readAll } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { differences, nameOf, type PlanFile, readPlanFile, type StoredPlan } from './plan-file.ts'

/** @returns the exit code */
export async function applyPlan(args: Arguments, service: Address, terminal: Terminal): Promise<number> {
  const path = args.operand(0)
  const shown = path === '-' ? 'stdin' : path
  const file = await readPlanFile(await contentOf(path, 'FILE', undefined), shown)
  return runConfirmed({ args, service, terminal, progress: undefined }, async connection => {
    const difference = await compare(file, shown, connection)
    return {
      nameOf: path => nameOf(path, file),
      runOf(callOf, options) {
        const { dryRun: _, ...call } = callOf(0)
        return new ApplyRun(difference, connection.client, call, options)
      },
    }
  })
}

/** How a file differs from the plan that is stored: what is made afterwards is made of that. */
interface Difference {
  file: PlanFile
  /** Null: there is no such plan yet. */
  stored: StoredPlan | null
  lines: readonly string[]
  /** Plans that could be meant, if there is no such plan: their names differ in upper and lower case only. */
  similar: readonly StoredPlan[]
  /** Whether the user has seen it. */
  isShown: boolean
}

/** @throws UsageError if the file does not say which plan it is */
async function compare(file: PlanFile, shown: string, { client, call }: Connection): Promise<Difference> {
  const plans = await readAll<StoredPlan>('plan', call)
  const stored = await storedFor(file, shown, plans, client)
  const other = plans.find(plan => plan.is_default)
  const isMoved = file.is_default === true && other !== undefined && other.id !== stored?.id
  return {
    file,
    stored,
    lines: [
      ...differences(stored, file),
      ...(isMoved ? [`plan ${other.id}, ${other.name}, is no longer the default`] : []),
    ],
    similar: stored === null ? plans.filter(({ name }) => name.toLowerCase() === file.name.toLowerCase()) : [],
    isShown: false,
  }
}

async function storedFor(
  { id, name }: PlanFile,
  shown: string,
  plans: readonly StoredPlan[],
  client: Client,
): Promise<StoredPlan | null> {
  if (id === undefined) return oneNamed('plan', name, plans, one => `Say which in ${shown}, as in "id: ${one}"`) ?? null
  const known = plans.find(plan => plan.id === id) ?? (toSnake(await client.getPlan({ id })) as StoredPlan)
  if (known.archived) throw new UsageError(`plan ${id} is archived; without the id, ${shown} makes a new one`)
  return known
}

class ApplyRun implements ConfirmedRun {
  readonly exitCode = 0
  private readonly difference: Difference
  private readonly client: Client
  private readonly call: CallOptions
  private readonly options: RunOptions
  private made: Plan | undefined

  constructor(difference: Difference, client: Client, call: CallOptions, options: RunOptions) {
    this.difference = difference
    this.client = client
    this.call = call
    this.options = options
  }

  async finish(): Promise<void> {
    const { file, stored, lines } = this.difference
    if (this.options.isDryRun || lines.length === 0) return
    const { id: _, ...plan } = file
    this.made =
      stored === null
        ? await this.client.createPlan(toCamel(plan) as CreatePlanReq, this.call)
        : await this.client.updatePlan(
            { id: stored.id, ...(toCamel(plan) as UpdatePlanReq) },
            { ...this.call, ifMatch: stored.version },
          )
  }

  get question(): string | null {
    const { file, stored, lines, similar } = this.difference
    if (lines.length === 0) return null
    if (stored !== null) return `Change plan ${stored.id}?`
    const others = similar.map(({ id, name }) => `Plan ${id} is called ${safe(name)}. `)
    return `${others.join('')}Create the plan ${safe(file.name)}?`
  }

  async report(): Promise<void> {
    const { terminal, isDryRun, isFinal } = this.options
    const { stored, lines, isShown } = this.difference
    if (stored !== null && lines.length === 0) return terminal.print(`Plan ${stored.id} is as the file says.\n`)
    if (!isShown) await terminal.print(shownOf(this.difference))
    this.difference.isShown = true
    if (isDryRun && isFinal) await terminal.print('(dry run: nothing was changed)\n')
    if (this.made === undefined) return
    const { id, version } = this.made
    if (stored === null) {
      await terminal.print(`Plan ${id} is created.\n`)
      terminal.complain(`To give it to a user: sms-quota plan give USER ${id}`)
      return
    }
    await terminal.print(`Plan ${id} is changed. It has version ${version}.\n`)
    if (version !== stored.version)
      terminal.complain(`To give it to those who have an older version: sms-quota plan roll-out ${id}`)
  }
}

function shownOf({ file, stored, lines }: Difference): string {
  const title =
    stored === null ? `New plan ${file.name}:` : `Plan ${stored.id}, ${stored.name}, version ${stored.version}:`
  return [title, ...lines.map(line => `  ${line}`)].map(line => `${safe(line)}\n`).join('')
}
