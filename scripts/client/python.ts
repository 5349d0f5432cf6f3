/**
 * What the client for Python takes of the document: the types of senders' requests and answers, and the methods of senders, once to be
 * called and once to be awaited.
 */
import { snakeName } from '../../client/src/names.ts'
import { answersOf, type Operation, operations, type Schema, schemas } from './document.ts'

const PATH = '/api/sms/sender/quota/'
const WIDTH = 132
/** What names a message in a call. Each method has it as parameters. */
const NAMING = ['user_id', 'user_ref', 'id']
/** Types with another name in Python. Of the requests, a method takes the fields as keywords; those of others are parameters. */
const NAMES: Readonly<Record<string, string>> = {
  Grantable: 'Check',
  CheckReq: 'Asked',
  ReserveReq: 'Reserved',
  ConsumeReq: 'Consumed',
}
const JSON_TYPES: Readonly<Record<string, string>> = {
  array: 'list',
  boolean: 'bool',
  integer: 'int',
  null: 'None',
  number: 'float',
  object: 'dict[str, Any]',
  string: 'str',
}

/** The classes, in the order in which Python needs them. */
const classes = new Map<string, { readonly source: string; readonly fields: readonly string[] }>()

function named<T>(of: Readonly<Record<string, T>>, name: string): T {
  const found = of[name]
  if (found === undefined) throw new Error(`the document has no "${name}", which the client for Python needs`)
  return found
}

const fieldOf = (schema: string, name: string) => named(named(schemas, schema).properties ?? {}, name)

function literals(name: string, values: readonly unknown[]): string {
  return within(
    [`${name} = Literal[`, ']'],
    values.map(value => JSON.stringify(value)),
    '',
  )
}

function literal(values: readonly unknown[]): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False' }
  return `Literal[${values.map(value => words[String(value)] ?? JSON.stringify(value)).join(', ')}]`
}

/** @param name of the field, after which a type is named that has no name in the document */
function typeOf(schema: Schema, name: string): string {
  const { $ref, type, enum: values, const: value, allOf, items, properties } = schema
  if ($ref !== undefined) return classOf($ref.replace('#/components/schemas/', ''))
  if (allOf !== undefined) return typeOf(allOf.at(-1) ?? {}, name)
  if (value !== undefined || values !== undefined) return literal(values ?? [value])
  if (Array.isArray(type)) return type.map(one => named(JSON_TYPES, one)).join(' | ')
  if (items !== undefined) return `list[${typeOf(items, name.replace(/s$/, ''))}]`
  if (Object.keys(properties ?? {}).length === 0) return named(JSON_TYPES, type ?? 'object')
  return define(
    name.replace(/^./, first => first.toUpperCase()),
    schema,
  )
}

function classOf(name: string): string {
  return define(NAMES[name] ?? name, named(schemas, name), name.endsWith('Req') ? NAMING : [])
}

/** It extends the largest class whose fields it has. @throws Error if two types of the document have the name */
function define(name: string, { properties = {}, required = [], description }: Schema, without: string[] = []): string {
  const fields = Object.entries(properties)
    .filter(([field]) => !without.includes(field))
    .map(([field, schema]) => {
      const type = typeOf(schema, field)
      return `${comment(schema.description)}    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}\n`
    })
  const known = classes.get(name)
  if (known !== undefined) {
    if (known.fields.join('') !== fields.join('')) throw new Error(`two types would be named ${name}`)
    return name
  }
  const [base, inherited] = [...classes]
    .filter(([, { fields: theirs }]) => theirs.every(field => fields.includes(field)))
    .map(([other, { fields: theirs }]) => [other, theirs] as const)
    .reduce((one, other) => (other[1].length > one[1].length ? other : one), ['TypedDict', []])
  const own = fields.filter(field => !inherited.includes(field))
  const source = `class ${name}(${base}):\n${description === undefined ? '' : `${docstring('    ', description)}\n`}${own.join('')}`
  classes.set(name, { source, fields })
  return name
}

const comment = (text = '') => lines(text.split(' '), '    #: ')

function docstring(indent: string, text: string, more: readonly string[] = []): string {
  const first = lines(text.split(' '), indent).trim()
  if (more.length === 0 && !first.includes('\n')) return `${indent}"""${first}"""\n`
  const further = more.map(part => lines(part.split(' '), `${indent}    `).replace('    ', '')).join('')
  return `${indent}"""\n${indent}${first}\n${further === '' ? '' : `\n${further}`}${indent}"""\n`
}

/** As few lines as the width allows. */
function lines(parts: readonly string[], indent: string): string {
  const all: string[] = []
  for (const part of parts.filter(one => one !== '')) {
    const last = all.at(-1)
    if (last === undefined || indent.length + last.length + part.length >= WIDTH) all.push(part)
    else all[all.length - 1] = `${last} ${part}`
  }
  return all.map(line => `${indent}${line}\n`).join('')
}

/** In parentheses of any kind, whose content moves to lines of its own if it is long. */
function within([open, close]: readonly [string, string], parts: readonly string[], indent: string): string {
  const line = `${indent}${open}${parts.join(', ')}${close}\n`
  if (line.length <= WIDTH) return line
  return `${indent}${open}\n${lines(
    parts.map(part => `${part},`),
    `${indent}    `,
  )}${indent}${close}\n`
}

/** What a method takes, and the body that it makes of it. */
function inputOf({ requestBody }: Operation): { parameters: string[]; body: string[]; words: string[] } {
  const request = (requestBody?.content['application/json']?.schema.$ref ?? '').replace('#/components/schemas/', '')
  const { properties = {}, required = [] } = named(schemas, request)
  const id = required.includes('id')
  const parameters = ['user_id: int | None = None', 'user_ref: str | None = None', ...(id ? ['id: str'] : [])]
  const body = ['**one_user(user_id, user_ref)', ...(id ? ['"id": id'] : [])]
  const timeout = 'timeout: float | None = None'
  if (NAMES[request] !== undefined)
    return {
      parameters: [...parameters, timeout, `**asked: Unpack[${classOf(request)}]`],
      body: [...body, '**asked'],
      words: [],
    }
  const fields = Object.entries(properties).filter(([name]) => !NAMING.includes(name))
  const constant = fields.filter(
    ([name, schema]) => required.includes(name) && typeOf(schema, name) === 'Literal[True]',
  )
  const optional = fields.filter(field => !constant.includes(field))
  const given = optional.map(([name, { type }]) => `${name}=${name}${type === 'boolean' ? ' or None' : ''}`)
  const own = optional.map(([name, { type }]) =>
    type === 'boolean' ? `${name}: bool = False` : `${name}: ${named(JSON_TYPES, String(type))} | None = None`,
  )
  return {
    parameters: [...parameters, ...own, timeout],
    body: [
      ...body,
      ...constant.map(([name]) => `"${name}": True`),
      ...(given.length === 0 ? [] : [`**_given(${given.join(', ')})`]),
    ],
    words: optional.map(([name, { description }]) => `:param ${name}: ${description}`),
  }
}

function methodOf(operation: Operation, isAwaited: boolean): string {
  const { operationId, summary, description = '', responses } = operation
  const { parameters, body, words } = inputOf(operation)
  const answer = Object.values(responses['200']?.content ?? {})[0]?.schema ?? {}
  const output = (answer.anyOf ?? [answer]).map(one => typeOf(one, operationId)).join(' | ')
  const name = snakeName(operationId)
  const [call, value] = isAwaited
    ? ['async def', `(await self._ask("${name}", body, timeout))`]
    : ['def', `self._ask("${name}", body, timeout)`]
  return `
    ${call} ${name}(
${lines(['self,', '*,', ...parameters.map((one, index) => (index === parameters.length - 1 ? one : `${one},`))], '        ')}    ) -> ${output}:
${docstring('        ', `${summary}. ${description}`, words)}${within(['body = {', '}'], body, '        ')}        return cast(${output}, ${value}.value)
`
}

function methodsOf(name: string, isAwaited: boolean): string {
  const type = isAwaited ? 'Awaitable[Any]' : 'Any'
  const methods = asked.filter(({ operationId }) => operationId !== 'batch').map(one => methodOf(one, isAwaited))
  return `class ${name}:
    def _ask(self, operation: OperationId, body: Mapping[str, Any], timeout: float | None) -> ${type}:
        raise NotImplementedError
${methods.join('')}`
}

const asked = operations
  .filter(({ method, path }) => method === 'post' && path.startsWith(PATH))
  .map(({ operation }) => operation)
// First what others extend.
classOf('Settled')
typeOf(fieldOf('BatchResult', 'results'), 'results')
const answers = asked.map(({ operationId, responses }) => {
  const { member, type } = answersOf(responses).answers ?? {}
  return `    "${operationId}": ("${snakeName(member ?? '')}", ${named(JSON_TYPES, type ?? '')}),\n`
})
const ops = (fieldOf('BatchReq', 'operations').items?.anyOf ?? []).flatMap(one => one.properties?.op?.enum ?? [])
const codes = fieldOf('Problem', 'code').enum ?? []
const methods = `${methodsOf('SenderMethods', false)}\n\n${methodsOf('AsyncSenderMethods', true)}`

export const PYTHON_SOURCE = `"""The types and methods of senders. Generated by \`npm run client\` from docs/openapi.json. Do not edit."""

from typing import Any, Awaitable, Literal, Mapping, NotRequired, TypedDict, Unpack, cast

from ._users import one_user

${literals('Operation', ops)}${literals(
  'OperationId',
  asked.map(({ operationId }) => operationId),
)}${literals('Code', codes)}
#: Of each call, a member of the answer by which it is known.
ANSWERS: Mapping[OperationId, tuple[str, type]] = {
${answers.join('')}}


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


${[...classes.values()].map(({ source }) => source).join('\n\n')}

${methods}`
