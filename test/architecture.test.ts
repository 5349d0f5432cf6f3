import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type ComposedText,
  chainsFrom,
  cyclesOf,
  parseSource,
  readSources,
  type SourceFile,
} from './support/source-code.ts'

const ARCHITECTURE = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8')

/** The rooms of a folder in levels, from the inside out. A file imports from its own room and from lower levels only. */
function levelsOf(folder: string): string[][] {
  const [, shown = ''] = ARCHITECTURE.split(`\n${folder}: `)
  const [line = ''] = shown.split(/\n(?! )/)
  return line.split('<').map(rooms => rooms.trim().split(/\s+/))
}

const [LEVELS, DB_LEVELS] = [levelsOf('src'), levelsOf('src/db')]

/** Packages that the domain may import: no I/O, no clock, no types of Node.js. */
const PURE_PACKAGES = new Set([
  'temporal-polyfill',
  'sms-segments-calculator',
  'libphonenumber-js/min',
  'libphonenumber-js/min/metadata',
])

/** Of code: without imports, comments and empty lines. */
const MIN_FILE_LINES = 30
const MAX_FILE_LINES = 350
const MAX_FUNCTION_LINES = 70
/** Functions that may be longer, as `path name`, each with its reason. */
const LONG_FUNCTIONS: Record<string, string> = {}

const server = readSources('src')
const consoleFiles = readSources('console/src')
/** Without the generated file. */
const clientFiles = readSources('client/src').filter(({ path }) => path !== 'client/src/api.ts')
const all = [...server, ...consoleFiles, ...clientFiles]
const inRoom = (room: string) => server.filter(({ path }) => path.startsWith(`src/${room}/`))

/** A room is a folder, or a file. One within another room is on a lower level, and found first. */
function roomOf(path: string, levels: typeof LEVELS): { name: string; level: number } | undefined {
  return levels
    .flatMap((rooms, level) => rooms.map(name => ({ name, level })))
    .find(({ name }) => path.startsWith(`${name}/`) || path.startsWith(`${name}.`))
}

/** The lines of a file, without its comments, that match a pattern. */
function linesWith({ path, code }: SourceFile, pattern: RegExp): string[] {
  return code.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []))
}

describe.each([
  { folder: 'src', files: server },
  ...['domain', 'admin', 'db', 'http'].map(room => ({ folder: `src/${room}`, files: inRoom(room) })),
  { folder: 'console/src', files: consoleFiles },
])('in $folder', ({ folder, files }) => {
  const levels = levelsOf(folder)
  const room = (path: string) =>
    path.startsWith(`${folder}/`) ? roomOf(path.slice(folder.length + 1), levels) : undefined
  const line = `the line "${folder}:" below "What may import what" in docs/architecture.md`

  test('every file belongs to a room, and every room has a file', () => {
    expect(files.length).toBeGreaterThan(20)
    const without = files.filter(({ path }) => room(path) === undefined).map(({ path }) => path)
    expect(without, `Name the room, after those that it imports, in ${line}`).toEqual([])
    const found = new Set(files.map(({ path }) => room(path)?.name))
    const empty = levels.flat().filter(name => !found.has(name))
    expect(empty, `Take the room out of ${line}`).toEqual([])
  })

  test('rooms import lower rooms only', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter(target => {
          const [from, to] = [room(path), room(target)]
          return from !== undefined && to !== undefined && from.name !== to.name && to.level >= from.level
        })
        .map(target => `${path} imports ${target}`),
    )
    expect(wrong, `Move what both need to a lower room, or the importer to a higher level in ${line}`).toEqual([])
  })
})

test('no file imports itself through others, type-only imports included', () => {
  expect(cyclesOf(all).map(cycle => cycle.join(' → '))).toEqual([])
})

test('the domain and the rules of the console do no I/O, wait for nothing and read no clock', () => {
  const rules = [...inRoom('domain'), ...consoleFiles.filter(({ path }) => path.startsWith('console/src/model/'))]
  const impure = rules.flatMap(({ path, packages }) =>
    packages.filter(name => !PURE_PACKAGES.has(name)).map(name => `${path} imports ${name}`),
  )
  const clocks = /\bDate\.now\(|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\b/
  const waits = /\basync\b|\bawait\b|\bPromise\b/
  const globals =
    /\bBuffer\b|\bprocess\.|\bNodeJS\b|\bfetch\(|\bconsole\.|\b(?:document|window|location|\w+Storage)\.(?!ts')/
  expect(impure, 'A package that is pure is in PURE_PACKAGES here.').toEqual([])
  expect(rules.flatMap(file => [clocks, waits, globals].flatMap(pattern => linesWith(file, pattern)))).toEqual([])
})

test('the address of a call comes from the trusted proxies, not from the property of Fastify that knows none', () => {
  expect(inRoom('http').flatMap(file => linesWith(file, /\brequest\.ips?\b/))).toEqual([])
})

test('what waits for the end of a response asks whether it has been, which `close` does not tell', () => {
  expect(inRoom('http').flatMap(file => linesWith(file, /\braw\.(?:on|once)\('close'/))).toEqual([])
})

test('imports of the contract end in the contract, the domain, errors.ts and pure packages', () => {
  expect(outsideOf(inRoom('contract'), /^src\/(?:contract|domain)\/|^src\/errors\.ts$/)).toEqual([])
})

test('imports of the console end in the console, the contract, the domain and errors.ts', () => {
  expect(consoleFiles.length).toBeGreaterThan(20)
  expect(outsideOf(consoleFiles, /^console\/src\/|^src\/(?:contract|domain)\/|^src\/errors\.ts$/)).toEqual([])
})

test('the client imports only its own files, and Node.js in client/src/node: the rest runs in browsers, too', () => {
  expect(clientFiles.length).toBeGreaterThan(5)
  const wrong = clientFiles.flatMap(({ path, imports, packages }) => {
    const isForNode = path.startsWith('client/src/node/')
    const own = isForNode ? /^client\/src\// : /^client\/src\/(?!node\/)/
    // What need not be there is imported when the process has it.
    const known = path === 'client/src/tracing.ts' ? ['@opentelemetry/api'] : []
    const further = packages.filter(name => !known.includes(name) && !(isForNode && name.startsWith('node:')))
    return [...imports.filter(target => !own.test(target)), ...further].map(name => `${path} imports ${name}`)
  })
  expect(wrong).toEqual([])
})

test('of the server, only the command line over the API, and the fake of its tests, import the client', () => {
  const importers = server.filter(({ imports }) => imports.some(target => target.startsWith('client/')))
  expect(importers.length).toBeGreaterThan(0)
  expect(importers.filter(({ path }) => !/^src\/(?:cli\/remote|fake)\//.test(path)).map(({ path }) => path)).toEqual([])
})

/** The chains of imports that leave the allowed files, or that end in a package which the allowed files of src/ may not use. */
function outsideOf(start: readonly SourceFile[], allowed: RegExp): string[] {
  const byPath = new Map(all.map(file => [file.path, file]))
  return [...chainsFrom(start, all)].flatMap(([path, chain]) => {
    if (!allowed.test(path)) return [chain.join(' → ')]
    const isServers = path.startsWith('src/')
    return (byPath.get(path)?.packages ?? [])
      .filter(name => name.startsWith('node:') || (isServers && name !== 'typebox' && !PURE_PACKAGES.has(name)))
      .map(name => [...chain, name].join(' → '))
  })
}

test('the console itself imports the types of the contract and the domain, nothing else of the server', () => {
  const wrong = consoleFiles.flatMap(({ path, imports, valueImports }) =>
    imports
      .filter(target => target.startsWith('src/') && !target.startsWith('src/domain/'))
      .filter(target => !target.startsWith('src/contract/') || valueImports.includes(target))
      .map(target => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('no verdict comes from a list of errors: only the place that describes them asks the validator for it', () => {
  const others = server.filter(({ path }) => path !== 'src/http/platform/validation.ts')
  expect(others.flatMap(file => linesWith(file, /\.Errors\(/))).toEqual([])
})

test('each list of the database has a test of its plan, but for those of webhooks, which are few', () => {
  const tests = [
    ...readSources('test/db').filter(({ path }) => path.endsWith('plans.test.ts')),
    ...readSources('bench'),
  ]
  const lists = inRoom('db').flatMap(({ code }) => [...code.matchAll(/^export (?:async )?function (list[A-Z]\w+)/gm)])
  const names = lists.flatMap(([, name = '']) => (/^list(?:Stored)?Webhooks$/.test(name) ? [] : [name]))
  expect(names.length).toBeGreaterThan(5)
  const without = names.filter(name => !tests.some(({ code }) => code.includes(`${name}(`)))
  expect(without, 'Add a case to a list of test/db/*-plans.test.ts.').toEqual([])
})

const STATEMENT = /\b(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/is

test('SQL stays in src/db', () => {
  const literals = ({ code }: SourceFile) => code.match(/`[^`]*`|'[^'\n]*'/g) ?? []
  const wrong = server
    .filter(({ path }) => !path.startsWith('src/db/'))
    .filter(file => literals(file).some(literal => STATEMENT.test(literal)))
  expect(
    wrong.map(({ path }) => path),
    'Move the statement to src/db.',
  ).toEqual([])
})

/** What only SQL has, in text of which □ stands for a part. */
const PARTS_OF_SQL = [
  STATEMENT,
  /\bis (?:not )?null\b|\b(?:order|group|partition) by\b|\bfor update\b|\bunion all\b|\blateral\b|\bfilter \(where\b|\bcase when\b/,
  // A cast, a parameter, a call.
  /::\w|\$\d|\$□|\b(?:coalesce|unnest|greatest|least|sum|max|min|count|any|array_agg|lower|array_to_string|chr)\(|\bselect \w+\(/,
  // A clause of a part, or before one; a comparison with one, or of one.
  /\b(?:select|from|join|where|having|limit|offset|returning|values|set local|into|using)[\s(]+□/,
  /□\)? (?:desc|asc|and|in|union|where|from|values|limit|returning|at time zone)\b|^ and □$/,
  /□\)? (?:=|<>|[<>]=?|[-+*/] □) |\.□ = |\w+\)? (?:=|<>|[<>]=?) \(?□|^□ (?:and|or) □$/,
  /^(?:do|truncate|copy|lock table|(?:create|alter|drop) (?:table|view|index|database|role|sequence))\b/,
]

/** What the service only shows to people: statements for them to run, and words that look like SQL. */
const SHOWN: ReadonlySet<string> = new Set([
  'alter system set max_prepared_transactions = □, and restart it',
  "select citus_activate_node('□)",
  "select citus_set_coordinator_host('□)",
  '□ is off, so it can lose confirmed commits; set □ = on',
])

const looksLikeSql = ({ text, isStatement }: ComposedText) => isStatement || PARTS_OF_SQL.some(part => part.test(text))

test('SQL is put together by the tag `sql` only, whose type admits no text of a caller', () => {
  const untagged = inRoom('db').flatMap(({ path, texts }) =>
    texts.filter(text => text.tag !== 'sql' && looksLikeSql(text)).map(text => ({ path, ...text })),
  )
  const composed = untagged.filter(({ text }) => !SHOWN.has(text))
  expect(composed, 'Give it the tag `sql`. Text that is shown to people only is in SHOWN here.').toEqual([])
  expect(new Set(untagged.map(({ text }) => text))).toEqual(SHOWN)
})

/** The modules that make `Sql` of other text, each with where that comes from. */
const TRUSTED_TEXT: Record<string, string> = {
  'src/db/connection/sql.ts': 'it is the module',
  'src/db/schema/migration-files.ts': 'the files of migrations',
  'src/db/ledger/cluster-statements.ts':
    'statements of the ledger for a cluster, with names of tables from its catalog',
  'test/support/sql.ts': 'statements of tests',
}

test('only named modules make SQL of other text, and only `sql.ts` says that text is SQL', () => {
  const files = [...server, ...['bench', 'scripts', 'test'].flatMap(readSources)]
  const users = files.filter(({ path, code }) => /\btrustedSql\b/.test(code) && path !== 'test/architecture.test.ts')
  expect(users.map(({ path }) => path).sort()).toEqual(Object.keys(TRUSTED_TEXT).sort())
  expect(files.flatMap(castsToSql).filter(cast => !cast.startsWith('src/db/connection/sql.ts:'))).toEqual([])
  expect(server.filter(({ imports }) => imports.some(target => target.startsWith('test/')))).toEqual([])
})

function castsToSql({ path, casts }: SourceFile): string[] {
  return casts.filter(({ type }) => /\bSql\b|\bany\b/.test(type)).map(({ line, type }) => `${path}:${line}: ${type}`)
}

/** Times of what is no memory of things that may end: rows, prepared statements, files of the process's own, messages of the agent. */
const TIMES_OF_OTHERS = /KEPT_MS|PAUSES_KEPT_MS|MINUTES_KEPT_MS|MAX_PLAN_AGE_MS|FRESH_MS|KNOWN_MS/
const FILES_OF_OTHERS =
  /kit\/idempotency|rates\/rate-cards|jobs\/audit-retention|usage\/minutes|engine\/connections|platform\/metrics-page|console\/routes|^src\/cli\//

test('how long a process remembers what may end is said in one place', () => {
  const declared = /\b(?:\w*_)?(?:KEPT|AGE|FRESH|STALE|RECHECK|REFRESH|REFUSED|REMEMBERED|KNOWN)_MS = /
  const found = server.flatMap(file => linesWith(file, declared))
  const isOther = (line: string) => TIMES_OF_OTHERS.test(line) && FILES_OF_OTHERS.test(line)
  expect(found.filter(isOther).length).toBeGreaterThan(3)
  const here = 'It belongs to src/domain/time/memories.ts. Other times are in TIMES_OF_OTHERS and FILES_OF_OTHERS here.'
  expect(
    found.filter(line => !isOther(line)),
    here,
  ).toEqual([])
})

test('the engine knows no HTTP', () => {
  const words =
    /\b(?:https?|fastify|headers?|retry-after|status_?code|Problem)\b|\b(?:40[134589]|41[235]|42[29]|50[234])\b/i
  const imports = inRoom('engine').flatMap(({ path, imports, packages }) =>
    [...imports, ...packages]
      .filter(target => /^src\/errors\.ts$|^src\/http\/|^fastify|^@fastify\/|^node:https?$/.test(target))
      .map(target => `${path} imports ${target}`),
  )
  expect([...imports, ...inRoom('engine').flatMap(file => linesWith(file, words))]).toEqual([])
})

test('the console asks the service in its queries only, and has one file for formats', () => {
  const asking = consoleFiles.filter(({ valueImports }) => valueImports.includes('console/src/session/client.ts'))
  expect(asking.length).toBeGreaterThan(5)
  expect(asking.filter(({ path }) => !/^console\/src\/queries\//.test(path)).map(({ path }) => path)).toEqual([])
  // Times in the zones of grants are calculated, not shown.
  const allowed = /^console\/src\/(?:formats|model\/zoned-time)\.ts$/
  const formats = /\bnew Intl\.\w*(?:Format|Names)\b|\.toLocale(?:Date|Time)?String\(/
  expect(consoleFiles.filter(({ path }) => !allowed.test(path)).flatMap(file => linesWith(file, formats))).toEqual([])
})

/** Forms of pages and lists, and of the dialog that asks to sign in again, which cannot be closed. */
const FORMS_OF_PAGES =
  /\/(?:components\/(?:filter-fields|user\/(?:message-check|notifications-section))|pages\/(?:start|sign-in|plans|prices|quota|webhooks|pauses|quotas)\/(?!.*dialog).+)\.tsx$/

test('each form in a dialog keeps it open on Escape while it has input', () => {
  const forms = consoleFiles.filter(
    ({ text, path }) => /<form\b|\/form\.tsx'/.test(text) && /\bonChange=/.test(text) && !FORMS_OF_PAGES.test(path),
  )
  expect(forms.length).toBeGreaterThan(10)
  const closed = forms.filter(({ text }) => !/\buseDialogInput\(/.test(text)).map(({ path }) => path)
  expect(closed, 'Call useDialogInput. A form of a page is in FORMS_OF_PAGES here.').toEqual([])
})

test('the console renders no text as HTML', () => {
  const markup =
    /dangerouslySetInnerHTML|\.(?:inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function/
  expect(consoleFiles.filter(({ text }) => markup.test(text)).map(({ path }) => path)).toEqual([])
})

test(`a file of less than ${MIN_FILE_LINES} lines has several importers, or one of another room`, () => {
  const console = consoleFiles.filter(({ path }) => path.startsWith('console/src/model/'))
  expect(
    smallFilesOf([...server, ...console, ...clientFiles]),
    `Move its code into the importer that is named. If that gets more than ${MAX_FILE_LINES} lines, move a larger part of it out instead.`,
  ).toEqual([])
})

/**
 * The small files that belong to their only importer. Entries of a folder, which one table lists, and files that are loaded on
 * demand stay by themselves.
 */
function smallFilesOf(files: readonly SourceFile[]): string[] {
  const importersOf = Map.groupBy(
    all.concat(files).flatMap(file => [...new Set(file.imports)].map(target => ({ target, file }))),
    ({ target }) => target,
  )
  return files.flatMap(({ path, ownLines }) => {
    if (ownLines >= MIN_FILE_LINES || /^(?:routes|requests|responses|command)\.ts$/.test(basename(path))) return []
    const [importer, ...others] = new Set(importersOf.get(path)?.map(({ file }) => file))
    if (importer === undefined || others.length > 0 || importer.lazyImports.includes(path)) return []
    return finestRoomOf(importer.path) === finestRoomOf(path) ? [`${path} belongs to ${importer.path}`] : []
  })
}

function finestRoomOf(path: string): string {
  if (path.startsWith('src/db/')) return `db/${roomOf(path.slice('src/db/'.length), DB_LEVELS)?.name}`
  if (path.startsWith('src/')) return `${roomOf(path.slice('src/'.length), LEVELS)?.name}`
  return path.split('/').slice(0, 3).join('/')
}

test(`a file has at most ${MAX_FILE_LINES} lines, but for tables of routes, commands and schemas`, () => {
  expect(
    longFilesOf(all),
    `Move what has a name of its own, with at least ${MIN_FILE_LINES} lines of code, into a file of the same room that is called so. A part
that is smaller stays; move a larger one instead. Only tables of routes, commands and schemas are as long as there are many.`,
  ).toEqual([])
})

/** What lists routes, commands or schemas is as long as there are many. */
const isTable = ({ path }: SourceFile) =>
  /^(?:routes|commands)\.ts$/.test(basename(path)) || path.startsWith('src/contract/')

function longFilesOf(files: readonly SourceFile[]): string[] {
  return files
    .filter(file => !isTable(file))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_FILE_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines`)
}

test(`a function has at most ${MAX_FUNCTION_LINES} lines`, () => {
  const long = all.flatMap(({ path, functions }) =>
    functions
      .filter(({ name, lines }) => lines > MAX_FUNCTION_LINES && LONG_FUNCTIONS[`${path} ${name}`] === undefined)
      .map(({ name, line, lines }) => `${path}:${line}: ${name} has ${lines} lines`),
  )
  expect(long, 'Give a part of it a name: a function of its own, in the same file.').toEqual([])
})

test('every exception for a long function is still needed', () => {
  const long = all.flatMap(({ path, functions }) =>
    functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES).map(({ name }) => `${path} ${name}`),
  )
  expect(Object.keys(LONG_FUNCTIONS).filter(name => !long.includes(name))).toEqual([])
})

test('the comment of an exported type begins with its noun', () => {
  expect(
    server.flatMap(typesWithoutNoun),
    'Say what it is, as in "The units that a user gets." in place of "What a user gets."',
  ).toEqual([])
})

function typesWithoutNoun({ path, text }: SourceFile): string[] {
  const comments = text.matchAll(/^\/\*\*\s(?:\s*\*\s)?((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:interface|type) (\w+)/gm)
  return [...comments].flatMap(([, comment = '', name]) =>
    /^(?:What|Who|Whether|How|Of|Which)\b/.test(comment) ? [`${path}: ${name}`] : [],
  )
}

/** Classes that a framework asks for. */
const FRAMEWORK_CLASSES = new Set(['Component'])

test('a class leaves its file only if it is an error: all else with state is an interface and a function that creates it', () => {
  expect(exportedClassesOf(all)).toEqual([])
})

function exportedClassesOf(files: readonly SourceFile[]): string[] {
  const bases = new Map(files.flatMap(({ classes }) => classes.map(({ name, base }) => [name, base])))
  const isError = (base: string | null): boolean =>
    base !== null && (/^\w*Error$/.test(base) || isError(bases.get(base) ?? null))
  return files.flatMap(({ path, classes }) =>
    classes
      .filter(({ base, isExported }) => isExported && !isError(base) && !FRAMEWORK_CLASSES.has(base ?? ''))
      .map(({ name }) => `${path} exports the class ${name}`),
  )
}

test('no file is a barrel or a collection of leftovers', () => {
  const names = /^(?:index|utils?|helpers?|common|misc|shared)\.tsx?$/
  expect(all.filter(({ path }) => names.test(basename(path))).map(({ path }) => path)).toEqual([])
  // What a package offers is one list; so are the texts, because each language has its own files.
  const lists = ['client/src/main.ts', 'console/src/texts/parts.ts', 'console/src/texts/texts.ts']
  const inner = all.filter(({ path }) => !lists.includes(path))
  expect(inner.flatMap(({ path, reexports }) => reexports.map(name => `${path} exports from ${name}`))).toEqual([])
})

test('the checks above find what they look for', () => {
  const file = (path: string, text: string) => parseSource(`src/${path}`, text)
  const one = file('one.ts', "import type { Two } from './two.ts'\n// import './four.ts'\nexport type One = Two")
  const two = file('two.ts', "export const load = () => import('./three.ts')")
  const three = file('three.ts', "export type { One } from './one.ts'\nimport { readFile } from 'node:fs/promises'")
  const four = file('four.ts', `export function long() {${'\n'.repeat(80)}}\nconst short = () => 1 // 404`)
  const files = [one, two, three, four]
  expect(files.map(({ imports }) => imports)).toEqual([['src/two.ts'], ['src/three.ts'], ['src/one.ts'], []])
  expect(files.flatMap(({ valueImports }) => valueImports)).toEqual(['src/three.ts'])
  expect([three.packages, three.reexports]).toEqual([['node:fs/promises'], ['./one.ts']])
  expect(cyclesOf(files)).toEqual([['src/one.ts', 'src/two.ts', 'src/three.ts', 'src/one.ts']])
  expect(chainsFrom([two], files).get('src/one.ts')).toEqual(['src/two.ts', 'src/three.ts', 'src/one.ts'])
  expect(four.functions).toEqual([
    { name: 'long', line: 1, lines: 81 },
    { name: 'short', line: 82, lines: 1 },
  ])
  expect(linesWith(four, /404/)).toEqual([])
  const types = file(
    'types.ts',
    ['/** What one is. */', '/** A two. */', '/**\n * Of three.\n */', '/** How four ends. */\nfunction five() {}\n']
      .map((comment, index) => `${comment}\nexport type T${index} = 1`)
      .join('\n'),
  )
  expect(typesWithoutNoun(types)).toEqual(['src/types.ts: T0', 'src/types.ts: T2'])
  const long = ['http/long.ts', 'http/plans/routes.ts', 'contract/long.ts'].map(path =>
    file(path, `${'\n'.repeat(MAX_FILE_LINES)}export const one = 1`),
  )
  expect(longFilesOf(long)).toEqual([`src/http/long.ts has ${MAX_FILE_LINES + 1} lines`])
  const classes = file(
    'classes.ts',
    'export class One {}\nclass Two extends TypeError {}\nexport class Three extends Two {}\nexport class Four extends One {}\nclass Five {}',
  )
  expect(exportedClassesOf([classes])).toEqual([
    'src/classes.ts exports the class One',
    'src/classes.ts exports the class Four',
  ])
  expect(files.map(({ ownLines }) => ownLines)).toEqual([1, 1, 1, 3])
  const small = ['http/one.ts', 'http/routes.ts', 'http/two.ts', 'http/three.ts', 'http/four.ts', 'jobs/five.ts'].map(
    path => file(path, 'export const one = 1'),
  )
  const importing = (path: string, text: string) => file(path, text + '\nexport const two = 2'.repeat(MIN_FILE_LINES))
  const table = importing(
    'http/table.ts',
    "import './one.ts'\nimport './routes.ts'\nimport './two.ts'\nimport '../jobs/five.ts'\nimport('./three.ts')",
  )
  const other = importing('http/other.ts', "import './two.ts'\nimport type { One } from './four.ts'")
  expect(smallFilesOf([...small, table, other])).toEqual([
    'src/http/one.ts belongs to src/http/table.ts',
    'src/http/four.ts belongs to src/http/other.ts',
  ])

  const textsOf = (text: string) => file('five.ts', text.replaceAll('§', '$')).texts.filter(looksLikeSql)
  for (const planted of [
    'const text = `§{column} is null`',
    'const text = `select * from t where name = §{name}`',
    "const text = `§{key === undefined ? '' : `order by §{key}`}`",
    "const text = 'select a from t order by ' + key",
    "const where = conditions.join(' and ')",
    'db.query({ text: `vacuum §{table}` })',
    'client.query(`vacuum §{table}`)',
    'client.query(copyFrom(`§{anything}`))',
  ]) {
    expect(textsOf(planted), planted).not.toEqual([])
    expect(textsOf(`throw new Error(${planted.replace(/^const \w+ = /, '')})`), planted).toEqual([])
  }
  expect(textsOf('const text = sql`§{column} is null`').map(({ tag }) => tag)).toEqual(['sql'])
  expect(textsOf('log.info(`the table §{name} is of §{owner}`)')).toEqual([])
  const casts = [
    'text as Sql',
    'text as unknown as readonly Sql[]',
    '{}; function isSql(text: string): text is Sql { return true }',
  ]
  for (const cast of casts) expect(castsToSql(file('six.ts', `const one = ${cast}`)), cast).toHaveLength(1)
})
