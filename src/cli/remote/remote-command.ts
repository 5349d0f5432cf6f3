/** Makes a command of `sms-quota` from what a command over the API is: an operation, its request, and how its answer is shown. */
import { randomUUID } from 'node:crypto'
import type { TObject } from 'typebox'
import { type OperationId, ROUTES } from '../../../client/src/api.ts'
import type { CallOptions } from '../../../client/src/main.ts'
import { type Arguments, type Operand, type Option, type Options, UsageError } from '../arguments.ts'
import type { Command } from '../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../help.ts'
import { safe, safeJson } from '../safe.ts'
import type { Terminal } from '../terminal.ts'
import { record } from './answers.ts'
import { connect } from './connection.ts'
import { EXCEPTIONS_FIELD, withCountries } from './countries.ts'
import { failureOf } from './failures.ts'
import {
  checkTimeZone,
  type Field,
  type FieldOf,
  fieldsOfOperation,
  isGiven,
  type Named,
  optionsOf,
  putValue,
  type Request,
  readFields,
} from './fields.ts'
import { withIds } from './find-ids.ts'
import type { Presentation } from './presentation.ts'
import { CONNECTION_OPTIONS, readAddress } from './profiles.ts'

/** A command over the API, with its operation and its request. */
export interface RemoteCommand<Requests extends readonly TObject[]> {
  name: string
  summary: string
  more?: () => string
  operation: OperationId
  /** The operation for the token's own user, with `--mine`. It has no field `user_id`. */
  own?: OperationId
  /** Called instead if the token does not allow the operation. It takes and answers the same. */
  instead?: OperationId
  /** The schemas of the parameters in the path, of the query and of the body. */
  requests: Requests
  /** Fields that are given by their place, and how help names them. */
  operands?: { readonly [Field in FieldOf<Requests>]?: string }
  /** The field `id` is that of one of these, in whose place the name may stand. */
  names?: Named
  /** Completes what was given. */
  complete?(request: Request, terminal: Terminal): Request
  /** What options say otherwise than the schemas. */
  overrides?: Readonly<Record<string, Partial<Option>>>
  /** Fields that it does not take. */
  hides?: readonly FieldOf<Requests>[]
  /** Whether it takes the version that the change shall meet. */
  takesVersion?: boolean
  /** Left out: as a record with all its fields. */
  show?: Presentation
  examples: readonly string[]
}

const MINE: Options = { mine: { means: "show what belongs to the token's own user; no role is needed" } }
const JSON_OPTION: Options = { json: { means: 'print the answer of the API, a line of JSON for each row' } }
const KEY: Options = {
  'idempotency-key': { value: 'KEY', means: 'a repeated call with the same key is done once; default a new one' },
}
const VERSION: Options = {
  'if-match': { value: 'VERSION', means: 'change it only if it still has this version' },
}

export function remoteCommand<const Requests extends readonly TObject[]>(defined: RemoteCommand<Requests>): Command {
  const remote = { show: record, ...defined }
  const { name, summary, more, examples, own, show } = remote
  const hidden = new Set<string>([...(show.hides ?? []), ...(remote.hides ?? [])])
  const declaredFields = fieldsOfOperation(remote.requests)
  const takesCountries = declaredFields.some(({ path }) => path.join() === 'countries')
  const fields = [...declaredFields, ...(takesCountries ? [EXCEPTIONS_FIELD] : [])]
    .filter(({ path: [first = ''] }) => !hidden.has(first))
    .map(
      (field): Field =>
        remote.names !== undefined && field.path[0] === 'id' ? { ...field, alternative: remote.names } : field,
    )
  const operands = Object.entries<string | undefined>(remote.operands ?? {}).map(([field, shown = field]) => {
    // `--mine` stands in for the user.
    return { field: fieldOf(fields, field), shown, isOptional: own !== undefined && field === 'user_id' }
  })
  const given = fields.filter(field => !operands.some(operand => operand.field === field))
  const parts: Parts = { operands, given, takesKey: ROUTES[remote.operation].takesKey === true }
  const declared: Options = {
    ...optionsOf(given),
    ...show.options,
    ...(own === undefined ? {} : MINE),
    ...(remote.takesVersion === true ? VERSION : {}),
    ...(parts.takesKey ? KEY : {}),
    ...JSON_OPTION,
    ...CONNECTION_OPTIONS,
    ...HELP_OPTION,
  }
  const options = Object.fromEntries(
    Object.entries(declared).map(([option, of]) => [option, { ...of, ...remote.overrides?.[option] }]),
  )
  return {
    name,
    summary,
    more: () => [...(more === undefined ? [] : [more()]), ...alternativesOf(operands), EXIT_CODES].join('\n\n'),
    operands: operands.map(({ shown, isOptional }): Operand => ({ name: shown, isOptional })),
    options,
    examples,
    run: (args, terminal) => run(remote, parts, args, terminal),
  }
}

/** The sentences of the help about operands in whose place something else than an id may stand. */
function alternativesOf(operands: Parts['operands']): string[] {
  return operands.flatMap(({ field: { alternative }, shown }) => {
    if (alternative === undefined) return []
    if (alternative === 'plan' || alternative === 'rate_card')
      return [`${shown} is the id of a ${alternative.replace('_', ' ')}, or its name.`]
    return [`${shown} is an id, or ref: and the reference of the user, as in ref:customer-1042.`]
  })
}

function fieldOf(fields: readonly Field[], name: string): Field {
  const field = fields.find(({ path: [first] }) => first === name)
  if (field === undefined) throw new Error(`no request has the field ${name}`)
  return field
}

interface Parts {
  operands: readonly { field: Field; shown: string; isOptional: boolean }[]
  /** The fields that are options. */
  given: readonly Field[]
  takesKey: boolean
}

async function run(
  remote: RemoteCommand<readonly TObject[]> & { show: Presentation },
  parts: Parts,
  args: Arguments,
  terminal: Terminal,
): Promise<number> {
  const { operation, own, instead, complete = request => request } = remote
  const isMine = args.has('mine')
  const given = complete(readRequest(parts, args, terminal), terminal)
  const missing = parts.given.filter(field => field.isRequired && !isGiven(given, field))
  if (missing.length > 0) throw new UsageError(`missing: ${missing.map(({ option }) => `--${option}`).join(', ')}`)
  const headers = readHeaders(args, parts.takesKey)
  const address = readAddress(args, terminal.env)
  const { client, call } = connect(address)
  const asked = isMine && own !== undefined ? own : operation
  let request: Request | undefined
  try {
    const found = await withIds(given, [...parts.operands.map(({ field }) => field), ...parts.given], call)
    request = found
    return await remote.show.run({
      args,
      terminal,
      client,
      request: found,
      async ask(more = {}, signal) {
        const options = signal === undefined ? headers : { ...headers, signal }
        try {
          return await call(asked, { ...found, ...more }, options)
        } catch (error) {
          if (instead === undefined || !isForbidden(error)) throw error
          return await call(instead, { ...found, ...more }, options)
        }
      },
      printJson: value => terminal.print(`${safeJson(JSON.stringify(value))}\n`),
    })
  } catch (error) {
    const failure = failureOf(error, {
      url: address.url,
      // To look for an id changes nothing.
      idempotencyKey: request === undefined ? undefined : headers.idempotencyKey,
      nameOf: path => nameOf(parts, path),
    })
    if (failure === undefined) throw error
    terminal.complain(`sms-quota: ${failure.message}`)
    if (isForbidden(error) && own !== undefined && !isMine) terminal.complain('--mine shows your own.')
    return failure.exitCode
  }
}

const isForbidden = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 403

/** @throws UsageError */
function readRequest({ operands, given }: Parts, args: Arguments, { timeZone }: Terminal): Request {
  const named = args.one('time-zone')
  const zone = checkTimeZone(named === undefined || named === 'null' ? timeZone : named)
  const request = readFields(given, args, zone)
  const isMine = args.has('mine')
  for (const [position, { field, shown, isOptional }] of operands.entries()) {
    const text = args.operand(position)
    if (text !== '') putValue(request, text, field, shown, zone)
    else if (!isOptional) throw new UsageError(`${shown} is missing`)
    else if (!isMine) throw new UsageError(`${shown} is missing; or give --mine`)
  }
  if (isMine && ('user_id' in request || 'user_ref' in request))
    throw new UsageError("--mine is the token's own user: name no other")
  const expanded = withCountries(request)
  if ('issue' in expanded) throw new UsageError(`--${EXCEPTIONS_FIELD.option} ${expanded.issue}`)
  return { ...expanded.value }
}

/** @throws UsageError */
function readHeaders(args: Arguments, takesKey: boolean): CallOptions {
  const headers: CallOptions = {}
  const version = args.one('if-match')
  if (version !== undefined) {
    if (!/^[1-9]\d{0,15}$/.test(version)) throw new UsageError(`--if-match is a version, such as 3, not "${version}"`)
    headers.ifMatch = Number(version)
  }
  if (takesKey) headers.idempotencyKey = args.one('idempotency-key') ?? randomUUID()
  return headers
}

/** How the command line names the field at a path of an issue: `/message/to`, or `user_id` in a query. */
function nameOf({ operands, given }: Parts, path: string): string {
  const names = path.replace(/^\//, '').split('/')
  const isAt = ({ path, alternative }: Field) =>
    path.every((name, index) => names[index] === name) || (alternative === 'user_ref' && names[0] === 'user_ref')
  const operand = operands.find(({ field }) => isAt(field))
  if (operand !== undefined) return operand.shown
  const field = given.find(isAt)
  return field === undefined ? safe(path) : `--${field.option}`
}
