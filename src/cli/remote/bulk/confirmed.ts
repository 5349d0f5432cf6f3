/** Commands that change many quotas: shown first, then asked about, and continued under the same key after a break. */
import { randomUUID } from 'node:crypto'
import type { BulkOptions } from '../../../../client/src/main.ts'
import type { Options } from '../../arguments.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type Connection, connect } from '../connection.ts'
import { FAILED, failureOf } from '../failures.ts'
import type { Address } from '../profiles.ts'

/** The options of such a command. */
export const CONFIRMED_OPTIONS: Options = {
  'dry-run': { means: 'only show what would change' },
  yes: { short: 'y', means: 'change without asking' },
  'idempotency-key': { value: 'KEY', means: 'go on with the bulk change of this key; default a new one' },
  json: { means: 'print what the API reports, a line of JSON for each record' },
}

const { json: _json, ...WITHOUT_JSON } = CONFIRMED_OPTIONS
/** The options of a command that makes one thing what a file says. */
export const APPLY_OPTIONS: Options = {
  ...WITHOUT_JSON,
  'idempotency-key': { value: 'KEY', means: 'a repeated call with the same key is done once; default a new one' },
}

export interface RunOptions {
  terminal: Terminal
  /** Shows a line in place of the one before; undefined without a terminal. */
  progress: ((text: string) => void) | undefined
  isDryRun: boolean
  /** Whether it is what the user has asked for, not a look before. */
  isFinal: boolean
  isJson: boolean
}

/** One run over all calls, real or dry. */
export interface ConfirmedRun {
  finish(): Promise<void>
  report(): Promise<void>
  readonly exitCode: number
  /** What to ask before it is made; null if nothing would change. */
  readonly question: string | null
}

interface Command {
  args: Arguments
  service: Address
  terminal: Terminal
  progress: RunOptions['progress']
}

/** What a command has read before its runs, which share it. */
interface Prepared {
  /** How the command line names a field of the request. */
  nameOf(path: string): string
  /** Begins a run; each of its calls has options of its own. */
  runOf(callOf: (part: number) => BulkOptions, options: RunOptions): ConfirmedRun
}

/** @returns the exit code */
export async function runConfirmed(
  { args, service, terminal, progress }: Command,
  prepare: (connection: Connection) => Promise<Prepared> | Prepared,
): Promise<number> {
  const isDryRun = args.has('dry-run')
  const asks = !isDryRun && !args.has('yes')
  if (asks && terminal.ask === null) throw new UsageError('give --yes: there is no terminal to ask on')
  const key = args.one('idempotency-key') ?? randomUUID()
  let prepared: Prepared | undefined
  let signal: AbortSignal | undefined
  const run = async ({ runOf }: Prepared, dryRun: boolean) => {
    // A dry run is interrupted by the end of the process.
    signal = dryRun ? undefined : terminal.interruption()
    const interruptible = signal === undefined ? {} : { signal }
    const callOf = (part: number) => ({
      idempotencyKey: part === 0 ? key : `${key}-${part + 1}`,
      dryRun,
      ...interruptible,
    })
    const isFinal = dryRun === isDryRun
    const options = { terminal, progress, isDryRun: dryRun, isFinal, isJson: args.has('json') && isFinal }
    const begun = runOf(callOf, options)
    await begun.finish()
    await begun.report()
    return begun
  }
  try {
    prepared = await prepare(connect(service))
    if (isDryRun || asks) {
      const preview = await run(prepared, true)
      if (isDryRun || preview.question === null) return preview.exitCode
      const answer = await terminal.ask?.(`${preview.question} [y/N] `)
      if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
        terminal.complain('Nothing was changed.')
        return FAILED
      }
    }
    return (await run(prepared, false)).exitCode
  } catch (error) {
    progress?.('')
    if (signal?.aborted === true) {
      terminal.complain(`Interrupted. To go on: the same command with --idempotency-key ${key}`)
      return FAILED
    }
    const failure = failureOf(error, {
      url: service.url,
      // What is read before changes nothing.
      idempotencyKey: prepared && key,
      nameOf: prepared?.nameOf ?? safe,
    })
    if (failure === undefined) throw error
    terminal.complain(`sms-quota: ${failure.message}`)
    return failure.exitCode
  }
}
