/** The command `plan apply`: shows how a plan differs from a file, asks, and makes it what the file says. */
import type { CreatePlanReq, Plan, UpdatePlanReq } from '../../../../client/src/api.ts'
import type { CallOptions, Client } from '../../../../client/src/main.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import { MAX_PAGE_SIZE } from '../../../domain/bounds.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type ConfirmedRun, type RunOptions, runConfirmed } from '../bulk/confirmed.ts'
import { contentOf } from '../files.ts'
import type { Address } from '../profiles.ts'
import { differences, nameOf, type PlanFile, readPlanFile, type StoredPlan } from './plan-file.ts'

/** @returns the exit code */
export async function applyPlan(args: Arguments, service: Address, terminal: Terminal): Promise<number> {
  const file = await readPlanFile(await contentOf(args.operand(0), 'FILE', undefined))
  const seen: Seen = {}
  return runConfirmed({ args, service, terminal, progress: undefined }, ({ client }) => ({
    nameOf,
    runOf(callOf, options) {
      const { dryRun: _, ...call } = callOf(0)
      return new ApplyRun(file, seen, client, call, options)
    },
  }))
}

/** What a dry run has read and shown: what is made afterwards is made of that. */
interface Seen {
  /** Null: there is no such plan yet. */
  stored?: StoredPlan | null
}

class ApplyRun implements ConfirmedRun {
  readonly exitCode = 0
  private readonly file: PlanFile
  private readonly seen: Seen
  private readonly client: Client
  private readonly call: CallOptions
  private readonly options: RunOptions
  private readonly isShown: boolean
  private lines: readonly string[] = []
  private made: Plan | undefined

  constructor(file: PlanFile, seen: Seen, client: Client, call: CallOptions, options: RunOptions) {
    this.file = file
    this.seen = seen
    this.client = client
    this.call = call
    this.options = options
    this.isShown = seen.stored !== undefined
  }

  async finish(): Promise<void> {
    const stored = this.seen.stored ?? (await this.find())
    this.seen.stored = stored
    this.lines = differences(stored, this.file)
    if (this.options.isDryRun || this.lines.length === 0) return
    const { id: _, ...plan } = this.file
    this.made =
      stored === null
        ? await this.client.createPlan(toCamel(plan) as CreatePlanReq, this.call)
        : await this.client.updatePlan(
            { id: stored.id, ...(toCamel(plan) as UpdatePlanReq) },
            { ...this.call, ifMatch: stored.version },
          )
  }

  /** @throws UsageError if the file does not say which plan it is */
  private async find(): Promise<StoredPlan | null> {
    const { id, name } = this.file
    if (id !== undefined) {
      const plan = await this.client.getPlan({ id })
      if (plan.archived) throw new UsageError(`plan ${id} is archived; without the id, FILE makes a new one`)
      return storedOf(plan)
    }
    const named: Plan[] = []
    for await (const plan of this.client.each('listPlans', { pageSize: MAX_PAGE_SIZE }))
      if (plan.name === name) named.push(plan)
    const [plan, other] = named
    if (other === undefined) return plan === undefined ? null : storedOf(plan)
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(
      `${named.length} plans have the name ${name}: ${ids}. Say which in FILE, as in "id: ${other.id}"`,
    )
  }

  get question(): string | null {
    const { stored } = this.seen
    if (this.lines.length === 0) return null
    return stored == null ? `Create the plan ${safe(this.file.name)}?` : `Change plan ${stored.id}?`
  }

  async report(): Promise<void> {
    const { terminal, isDryRun, isFinal } = this.options
    const { stored = null } = this.seen
    if (stored !== null && this.lines.length === 0) return terminal.print(`Plan ${stored.id} is as the file says.\n`)
    if (!this.isShown) await terminal.print(this.shown(stored))
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

  private shown(stored: StoredPlan | null): string {
    const title =
      stored === null ? `New plan ${this.file.name}:` : `Plan ${stored.id}, ${stored.name}, version ${stored.version}:`
    return [title, ...this.lines.map(line => `  ${line}`)].map(line => `${safe(line)}\n`).join('')
  }
}

const storedOf = (plan: Plan) => toSnake(plan) as StoredPlan
