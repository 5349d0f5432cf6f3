/** What must hold of any call and its answer. */
import { createAnswerCheck } from '../openapi-check.ts'
import { bytesOf, type Call, urlOf } from './calls.ts'
import type { ApiDocument, Operation, Schema } from './document.ts'
import type { Answered } from './wire.ts'

/** A rule that does not hold, and how. */
export interface Fault {
  rule:
    | 'failed'
    | 'undocumented answer'
    | 'accepted against its schema'
    | 'accepted without the role'
    | 'changed by a call that must not'
    | 'slow'
    | 'no answer'
  detail: string
}

/** The roles of callers. */
export const CALLERS: Record<string, readonly string[]> = {
  anonymous: [],
  'someone with a broken token': [],
  'user 7': [],
  'user 100': [],
  admin: ['admin'],
  auditor: ['auditor'],
  support: ['support'],
  sender: ['sender'],
  'sender with force': ['sender', 'force'],
  'admin who sends': ['admin', 'sender'],
}
const WITHOUT_TOKEN = ['anonymous', 'someone with a broken token']

export interface Judge {
  operationOf(call: Call): Operation | undefined
  /** The first rule that an answer breaks. */
  faultOf(call: Call, answer: Answered): Fault | null
  /** Whether the call may have changed something. */
  mayChange(call: Call, answer: Answered): boolean
  /** Whether the call looks at units, and so first writes what time has done to them since they were last looked at. */
  writesWhatTimeDid(call: Call): boolean
}

export function createJudge(document: object, api: ApiDocument): Judge {
  const checkAnswer = createAnswerCheck(document)
  const routes = api.operations.map(operation => ({ operation, steps: operation.template.split('/') }))
  // Fixed paths before those with a parameter in their place.
  routes.sort((one, other) => one.operation.template.split('{').length - other.operation.template.split('{').length)
  const inputs = new Map(api.operations.map(operation => [operation.id, inputsOf(operation)]))

  function operationOf({ method, path }: Call): Operation | undefined {
    const asked = method === 'HEAD' ? 'GET' : method
    const steps = path.split('/').map(decoded)
    const fitting = routes.filter(
      route =>
        route.steps.length === steps.length &&
        route.steps.every((step, at) => step === steps[at] || (step.startsWith('{') && steps[at] !== '')),
    )
    const template = fitting[0]?.operation.template
    return fitting.find(({ operation }) => operation.template === template && operation.method === asked)?.operation
  }

  function faultOf(call: Call, answer: Answered): Fault | null {
    const operation = operationOf(call)
    const failure = failureIn(call, answer)
    if (failure !== null) return { rule: 'failed', detail: failure }
    return (
      misfitOf(call, operation, answer) ??
      (operation === undefined || answer.status >= 300
        ? null
        : (intruder(call, operation) ?? acceptedWrongly(call, operation, answer)))
    )
  }

  function misfitOf(call: Call, operation: Operation | undefined, { status, headers, text }: Answered): Fault | null {
    const rule = 'undocumented answer'
    if (operation === undefined && status < 400 && call.path.startsWith('/api/')) {
      return { rule, detail: `${status} on a path or with a method that is not in the document` }
    }
    if (call.method === 'HEAD') return text === '' ? null : { rule, detail: 'HEAD has a body' }
    try {
      if (operation !== undefined)
        checkAnswer(operation.method, operation.template, status, headers['content-type'] ?? '', text)
      if (status < 400) return null
      const why = api.refusal({ $ref: '#/components/schemas/Problem' }, JSON.parse(text))
      return why === null ? null : { rule, detail: `the problem is not one: ${why}: ${text}` }
    } catch (error) {
      return { rule, detail: `${error instanceof Error ? error.message : error}` }
    }
  }

  function intruder({ caller }: Call, { roles }: Operation): Fault | null {
    const rule = 'accepted without the role'
    if (roles === 'open') return null
    if (WITHOUT_TOKEN.includes(caller)) return { rule, detail: `by ${caller}` }
    const own = CALLERS[caller] ?? []
    return roles === 'any' || own.some(role => roles.includes(role))
      ? null
      : { rule, detail: `by ${caller}, not ${roles}` }
  }

  function acceptedWrongly(call: Call, operation: Operation, answer: Answered): Fault | null {
    const refuse = (where: string, schema: Schema, value: unknown): Fault | null => {
      const why = api.refusal(schema, value)
      return why === null ? null : { rule: 'accepted against its schema', detail: `${where}: ${why}` }
    }
    const { query, path, headers } = inputs.get(operation.id) ?? inputsOf(operation)
    if (operation.roles !== 'open') {
      const fault =
        refuse('query', query, queryOf(call.query, query)) ?? refuse('path', path, pathOf(call, operation, path))
      if (fault !== null) return fault
    }
    const fault = refuse('headers', headers, headersOf(call))
    if (fault !== null || operation.body === undefined) return fault
    for (const { where, schema, value } of acceptedParts(call, operation.body.schema, answer, api)) {
      const wrong =
        value instanceof SyntaxError
          ? { rule: 'accepted against its schema' as const, detail: `${where}: ${value.message}` }
          : refuse(where, schema, value)
      if (wrong !== null) return wrong
    }
    return null
  }

  return {
    operationOf,
    faultOf,
    writesWhatTimeDid: ({ path }) => path.startsWith('/api/sms/sender/') || path.endsWith('/check'),
    mayChange(call, answer) {
      if (answer.status >= 400 || ['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(call.method)) return false
      const isDryRun = call.query.some(([name, value]) => name === 'dry_run' && value === 'true')
      if (isDryRun || /\/check$/.test(call.path)) return false
      return (
        !call.path.endsWith('/batch') ||
        JSON.parse(answer.text).results.some((it: { status: number }) => it.status < 400)
      )
    },
  }
}

/** A failure of the service: of the whole call, of an operation of a batch, or in the middle of an import or a bulk change. */
function failureIn({ path }: Call, { status, headers, text }: Answered): string | null {
  if (status >= 500) return `${status} ${text}`
  if (status !== 200) return null
  if (headers['content-type']?.includes('ndjson')) {
    return text.split('\n').find(line => line.startsWith('{"record":"stopped"')) ?? null
  }
  if (!path.endsWith('/batch') || text === '') return null
  const results: { status: number }[] = JSON.parse(text).results
  const failed = results.find(it => it.status >= 500)
  return failed === undefined ? null : JSON.stringify(failed)
}

/** The schemas of what stands in a request beside its body. Unknown parameters of a query are refused, other headers are not. */
function inputsOf({ parameters }: Operation): Record<'query' | 'path' | 'headers', Schema> {
  const schemaOf = (place: 'query' | 'path' | 'header', additionalProperties: boolean): Schema => {
    const those = parameters.filter(it => it.in === place)
    return {
      type: 'object',
      properties: Object.fromEntries(those.map(it => [it.name, it.schema])),
      required: those.filter(it => it.required).map(it => it.name),
      additionalProperties,
    }
  }
  return { query: schemaOf('query', false), path: schemaOf('path', false), headers: schemaOf('header', true) }
}

/** A plain decimal number is a number where one is expected, and a parameter that may repeat is a list. */
function readText(schema: Schema | undefined, texts: readonly string[]): unknown {
  if (schema?.type === 'array') return texts
  const [text = ''] = texts
  if (texts.length > 1) return texts
  const isNumber =
    (schema?.type === 'integer' && /^(?:0|[1-9]\d*)$/.test(text)) ||
    (schema?.type === 'number' && /^(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text))
  return isNumber ? Number(text) : text
}

function queryOf(query: Call['query'], { properties = {} }: Schema): unknown {
  // As one text: a value may hold what begins another parameter.
  const pairs =
    urlOf({ path: '', query })
      .slice(1)
      .split('#')[0]
      ?.split('&')
      .filter(pair => pair !== '') ?? []
  const read = pairs.map(pair => {
    const [name = '', ...rest] = pair.split('=')
    return [decoded(name.replaceAll('+', ' ')), decoded(rest.join('=').replaceAll('+', ' '))] as const
  })
  return Object.fromEntries(
    [...Map.groupBy(read, ([name]) => name)].map(([name, values]) => [
      name,
      readText(
        properties[name],
        values.map(([, value]) => value),
      ),
    ]),
  )
}

function pathOf({ path }: Call, { template }: Operation, { properties = {} }: Schema): unknown {
  const steps = path.split('/')
  return Object.fromEntries(
    template.split('/').flatMap((step, at) => {
      const name = /^\{(.+)\}$/.exec(step)?.[1]
      return name === undefined ? [] : [[name, readText(properties[name], [decoded(steps[at] ?? '')])]]
    }),
  )
}

function headersOf({ headers }: Call): unknown {
  const byName = Map.groupBy(headers, ([name]) => name)
  return Object.fromEntries(
    [...byName].map(([name, values]) => [name, values.map(([, value]) => value.trim()).join(', ')]),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface Part {
  where: string
  schema: Schema
  /** A SyntaxError if it is not JSON. */
  value: unknown
}

/** What of a body was accepted: all of it, or those operations of a batch and rows of an import that were not refused. */
function acceptedParts(call: Call, schema: Schema, answer: Answered, api: ApiDocument): Part[] {
  // A byte order mark may stand before JSON.
  const text = (call.body === undefined ? '' : bytesOf(call.body).toString('utf8')).replace(/^\ufeff/, '')
  if (call.path.endsWith('/import')) {
    const records = answer.text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
    const refused = new Set(records.filter(({ record }) => record === 'failed').map(({ line }) => line))
    return text
      .split('\n')
      .map((line, at) => ({ where: `line ${at + 1}`, line, number: at + 1 }))
      .filter(({ line, number }) => line.trim() !== '' && !refused.has(number))
      .map(({ where, line }) => ({ where, schema, value: parsed(line) }))
  }
  const value = parsed(text)
  if (!call.path.endsWith('/batch')) return [{ where: 'body', schema, value }]
  const batch = api.resolve(schema)
  const { operations = {} } = batch.properties ?? {}
  const around = { ...batch, properties: { operations: { ...operations, items: {} } } }
  const results: { status: number }[] = JSON.parse(answer.text).results
  const items = value instanceof SyntaxError ? [] : (value as { operations: unknown[] }).operations
  return [
    { where: 'body', schema: around, value },
    ...results.flatMap(({ status }, at) =>
      status >= 400 ? [] : [{ where: `operation ${at}`, schema: operations.items ?? {}, value: items[at] }],
    ),
  ]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error
  }
}
