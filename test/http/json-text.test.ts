/** JSON texts against a naive parser that keeps each name, and against JSON.parse. */
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { readJson } from '../../src/http/platform/json-text.ts'
import { databaseOfPlainRole, freshDatabase } from '../support/database.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { runs } from '../support/runs.ts'
import { startService } from '../support/service.ts'

/** A value with its names as they stand in the text. */
type Tree = string | Tree[] | { names: [name: string, value: Tree][] }

/** A parser without speed: null if the text is no JSON. */
function treeOf(text: string): Tree | null {
  let rest = text
  const skip = () => {
    rest = rest.replace(/^[ \t\r\n]+/, '')
  }
  const take = (pattern: RegExp): string => {
    const [found] = pattern.exec(rest) ?? []
    if (found === undefined) throw new SyntaxError(rest)
    rest = rest.slice(found.length)
    skip()
    return found
  }
  const string = () => take(/^"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/u)
  const listOf = <Item>(end: string, item: () => Item): Item[] => {
    const items: Item[] = []
    if (rest.startsWith(end)) return items
    for (;;) {
      items.push(item())
      if (!rest.startsWith(',')) return items
      take(/^,/)
    }
  }
  const value = (): Tree => {
    if (rest.startsWith('[')) {
      take(/^\[/)
      const items = listOf(']', value)
      take(/^\]/)
      return items
    }
    if (!rest.startsWith('{')) {
      return rest.startsWith('"') ? string() : take(/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/)
    }
    take(/^\{/)
    const names = listOf('}', (): [string, Tree] => {
      const name: string = JSON.parse(string())
      take(/^:/)
      return [name, value()]
    })
    take(/^\}/)
    return { names }
  }
  try {
    skip()
    const tree = value()
    return rest === '' ? tree : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Where a tree breaks a rule. */
function faultsOf(tree: Tree, path = '', depth = 1): string[] {
  if (typeof tree === 'string') return []
  if (depth > 16) return [path]
  const isList = Array.isArray(tree)
  const members = isList ? tree.map((item, at): [string, Tree] => [String(at), item]) : tree.names
  const faults = !isList && members.length > 200 ? [path] : []
  const seen = new Set<string>()
  for (const [name, inner] of members) {
    const at = `${path}/${name.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!isList && (seen.has(name) || name === '__proto__')) faults.push(at)
    seen.add(name)
    faults.push(...faultsOf(inner, at, depth + 1))
  }
  return faults
}

const blank = fc.constantFrom('', '', '', ' ', '\n\t ')
const escaped = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map(choices => {
    const units = choices.map((isEscaped, at) =>
      isEscaped ? `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}` : JSON.stringify(text[at]).slice(1, -1),
    )
    return `"${units.join('')}"`
  })
const name = fc
  .oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', '', 'a"b', '~/', 'é', '\\', '"', '1', ':', '{', 'x'.repeat(70)) },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty') },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  )
  .chain(escaped)
const leaf = fc.oneof(
  fc.constantFrom('true', 'null', '0', '-1.5e3', '""', '"{[:,]}"', '"\\\\"', '"\\""', `"${'y'.repeat(60)}\\\\\\""`),
  fc.string({ unit: 'binary', maxLength: 120 }).map(text => JSON.stringify(text)),
)
const { json } = fc.letrec<{ json: string }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }).map(items => `[${items.join(',')}]`),
    fc
      .array(
        fc.tuple(name, blank, tie('json')).map(([of, space, value]) => `${of}${space}:${space}${value}`),
        { maxLength: 5 },
      )
      .map(members => `{${members.join(',')}}`),
    fc.tuple(fc.nat({ max: 17 }), tie('json')).map(([n, value]) => '[{"in":'.repeat(n) + value + '}]'.repeat(n)),
  ),
}))
const broken = fc
  .tuple(json, fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', '"', '\\', '{', ']', ':', ',', '\n'))
  .map(([text, at, length, put]) => {
    const from = at % (text.length + 1)
    return text.slice(0, from) + put + text.slice(from + length)
  })

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

test('what breaks no rule is read as JSON.parse reads it, all else is refused with its path', () => {
  fc.assert(
    fc.property(fc.oneof(json, broken), text => {
      const read = readJson(text)
      const tree = treeOf(text)
      expect(tree === null).toBe(parsed(text) === null)
      const faults = tree === null ? [] : faultsOf(tree)
      if (tree === null) expect(read).toHaveProperty('issues')
      else if (faults.length === 0) expect(read).toEqual(parsed(text))
      else expect(faults).toContain('issues' in read ? read.issues[0].path : 'it is read')
    }),
    { numRuns: runs(3_000) },
  )
})

const objectOf = (names: number, of = (n: number) => `n${n}`) =>
  `{${Array.from({ length: names }, (_, n) => `"${of(n)}":1`).join(',')}}`

test.each([
  ['200 names', objectOf(200), undefined],
  ['201 names', `[{},{"a":${objectOf(201)}}]`, { path: '/1/a', message: 'has more than 200 names' }],
  ['201 times the same', objectOf(201, () => 'a'), { path: '', message: 'has more than 200 names' }],
  ['200 times the same', objectOf(200, () => 'a'), { path: '/a', message: /^is there twice$/ }],
  ['16 levels', '{"a":['.repeat(8) + ']}'.repeat(8), undefined],
  ['17 levels', `${'{"a":['.repeat(8)}{}`, { path: '/a/0'.repeat(8), message: 'is nested deeper than 16 levels' }],
  ['25,000 names', `[${Array(125).fill(objectOf(200))}]`, undefined],
  ['25,001 names', `[${Array(125).fill(objectOf(200))},{"a":1}]`, { path: '', message: 'has more than 25,000 names' }],
  ['an escaped repetition', '{"user_id":7,"user\\u005fid":8}', { path: '/user_id', message: /^is there twice$/ }],
  ['one in a list', '{"x":[{"a":1},{"a":1},{"b":1,"b":2}]}', { path: '/x/2/b', message: /^is there twice$/ }],
  [
    'one behind a long text',
    `{"a":"${'\\\\\\"'.repeat(5_000)}","b":1,"b":2}`,
    { path: '/b', message: /^is there twice$/ },
  ],
  ['a name behind a broken one', '{"\\x":[{"a":1},[[[[[[[[[[[[[[[[', { path: '', message: /JSON/ }],
])('%s', (_what, text, issue) => {
  const read = readJson(text)
  if (issue === undefined) expect(read).toEqual({ value: JSON.parse(text) })
  else expect(read).toMatchObject({ issues: [{ path: issue.path, message: expect.stringMatching(issue.message) }] })
})

test('a name with escapes is found twice, also where V8 reads it as a name of an earlier text', () => {
  const text = '{"\\"":1,"\\"":2}'
  JSON.parse('{"\\\\":1}')
  expect(readJson(text)).toMatchObject({ issues: [{ path: '/"' }] })
  JSON.parse('{"\\"":1,"\\\\":1}')
  expect(readJson(text)).toMatchObject({ issues: [{ path: '/"' }] })
})

describe('every route with a body', async () => {
  const service = await startService({ database: inject('nodes') === null ? databaseOfPlainRole() : freshDatabase() })
  const tokens: Record<string, string> = {
    admin: service.adminToken,
    sender: service.senderToken,
    quota: await service.userToken(7),
  }
  const routes = readDocument(service.app.swagger()).operations.flatMap(({ method, template: path, body }) =>
    body === undefined ? [] : [{ method, path, type: body.mediaType }],
  )

  test('are known', () => expect(routes.length).toBeGreaterThan(25))

  test.each(routes)('$method $path', async ({ method, path, type }) => {
    const url = path.replaceAll(/\{\w+\}/g, '7')
    const ask = (body: string) =>
      service.call(method, url, {
        token: tokens[path.split('/')[3] ?? ''] ?? '',
        body,
        headers: { 'content-type': type, 'idempotency-key': 'k' },
      })
    for (const [body, at] of [
      ['{"x":1,"y":[{"a":7,"b":{},"\\u0061":8}]}', '/y/0/a'],
      [objectOf(201), ''],
      [`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, '/a'.repeat(16)],
    ] as const) {
      const answer = await ask(body)
      const refused = {
        code: 'invalid_request',
        errors: [{ path: at, message: expect.stringMatching(/twice|names|levels/) }],
      }
      if (type === 'application/json') expect(answer.body).toMatchObject({ status: 400, ...refused })
      else expect(JSON.parse(answer.body.split('\n')[0])).toMatchObject({ record: 'failed', ...refused })
    }
  })
})
