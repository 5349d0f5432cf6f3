/** Reads TypeScript sources with a parser, so that the architecture test can follow imports and measure functions. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseAst } from 'vitest/node'
import { PROJECT } from './paths.ts'

export interface SourceFile {
  /** From the project's root, as in `src/app.ts`. */
  path: string
  text: string
  /** Without comments; offsets and lines are those of `text`. */
  code: string
  /** Project files it imports, type-only imports included, as in `src/errors.ts`. */
  imports: string[]
  /** Those of `imports` that remain when the types are stripped. */
  valueImports: string[]
  /** Those of `imports` that are loaded on demand, by `import(…)`. */
  lazyImports: string[]
  /** Packages and Node modules it imports, as in `node:fs` or `typebox`. */
  packages: string[]
  /** Files and packages that it exports again, as written. */
  reexports: string[]
  functions: { name: string; line: number; lines: number }[]
  /** `base`: the class that it extends, as written; null if none. */
  classes: { name: string; base: string | null; isExported: boolean }[]
  /** How many lines of `code` are neither empty nor part of an import. */
  ownLines: number
  /** Templates and texts that are put together of parts, other than messages of errors. */
  texts: ComposedText[]
  /** The types that something is said to have: by `as`, or by a function that answers `is`. */
  casts: { type: string; line: number }[]
}

const PART = '□'

/** A template with parts, or what makes a text of others: `+` and `join`. */
export interface ComposedText {
  line: number
  /** With `PART` for each part. */
  text: string
  /** What stands before a template, as in `sql`. */
  tag: string | null
  /** Whether it goes to the database as it is: the argument of a `query` or a `copy`, or the value of a `text`. */
  isStatement: boolean
}

/** All sources under a folder of the project. */
export function readSources(folder: string): SourceFile[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path))
    .sort()
    .map(path => parseSource(`${folder}/${path}`, readFileSync(join(PROJECT, folder, path), 'utf8')))
}

/** @param path from the project's root; it decides what relative imports mean */
export function parseSource(path: string, text: string): SourceFile {
  const file: SourceFile = {
    path,
    text,
    code: withoutComments(text),
    imports: [],
    valueImports: [],
    lazyImports: [],
    packages: [],
    reexports: [],
    functions: [],
    classes: [],
    ownLines: 0,
    texts: [],
    casts: [],
  }
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const own = file.code.split('\n').map(line => line.trim() !== '')
  walk(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), null, (node, parent, isOfError) => {
    const composed = isOfError ? null : composedText(node, parent)
    if (composed !== null) file.texts.push({ ...composed, line: lineAt(node.start) })
    if (CASTS.has(node.type) && isNode(node.typeAnnotation)) {
      const { start, end } = node.typeAnnotation
      file.casts.push({ type: text.slice(start, end), line: lineAt(node.start) })
    }
    const module = moduleOf(node)
    if (module !== null) {
      const target = relative(PROJECT, resolve(PROJECT, dirname(path), module))
      if (module.startsWith('.')) file.imports.push(target)
      else file.packages.push(module)
      if (module.startsWith('.') && !isTypeOnly(node)) file.valueImports.push(target)
      if (node.type.startsWith('Export')) file.reexports.push(module)
      if (node.type === 'ImportExpression') file.lazyImports.push(target)
      if (node.type === 'ImportDeclaration') own.fill(false, lineAt(node.start) - 1, lineAt(node.end))
    }
    if (node.type === 'ClassDeclaration') {
      const base = isNode(node.superClass) ? text.slice(node.superClass.start, node.superClass.end) : null
      const isExported = isNode(parent) && parent.type.startsWith('Export')
      file.classes.push({ name: nameOf(node) ?? '(anonymous)', base, isExported })
    }
    if (FUNCTIONS.has(node.type)) {
      const [first, last] = [lineAt(node.start), lineAt(node.end)]
      file.functions.push({
        name: nameOf(node) ?? nameOf(parent) ?? '(anonymous)',
        line: first,
        lines: last - first + 1,
      })
    }
  })
  file.ownLines = own.filter(Boolean).length
  return file
}

/** The shortest chain of imports from any of the `start` files to each file that they reach. */
export function chainsFrom(start: readonly SourceFile[], all: readonly SourceFile[]): Map<string, string[]> {
  const byPath = new Map(all.map(file => [file.path, file]))
  const chains = new Map(start.map(({ path }) => [path, [path]]))
  // A Map iterates over the entries that are added while it is iterated: breadth first.
  for (const [path, chain] of chains) {
    for (const target of byPath.get(path)?.imports ?? []) {
      if (byPath.has(target) && !chains.has(target)) chains.set(target, [...chain, target])
    }
  }
  return chains
}

/** A cycle of imports for each group of files that import each other, as a chain that ends where it begins. */
export function cyclesOf(all: readonly SourceFile[]): string[][] {
  const cycles: string[][] = []
  const inCycle = new Set<string>()
  for (const file of all) {
    if (inCycle.has(file.path)) continue
    const targets = all.filter(({ path }) => file.imports.includes(path))
    const chain = chainsFrom(targets, all).get(file.path)
    if (chain === undefined) continue
    for (const path of chain) inCycle.add(path)
    cycles.push([file.path, ...chain])
  }
  return cycles
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

interface Node {
  type: string
  start: number
  end: number
}

function isNode(value: unknown): value is Node & Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

type Visit = (node: Node & Record<string, unknown>, parent: unknown, isOfError: boolean) => void

/** Visits a node and all in it. `isOfError`: whether it is in what makes or throws an error. */
function walk(value: unknown, parent: unknown, visit: Visit, isOfError = false): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, parent, visit, isOfError)
  } else if (isNode(value)) {
    const isError =
      isOfError || value.type === 'ThrowStatement' || (value.type === 'NewExpression' && isNamedError(value))
    visit(value, parent, isError)
    for (const child of Object.values(value)) walk(child, value, visit, isError)
  }
}

const isNamedError = ({ callee }: Record<string, unknown>) =>
  isNode(callee) && typeof callee.name === 'string' && /Error$/.test(callee.name)

const CASTS = new Set(['TSAsExpression', 'TSTypeAssertion', 'TSTypePredicate'])

function composedText(node: Node & Record<string, unknown>, parent: unknown): Omit<ComposedText, 'line'> | null {
  const text = textOf(node)
  if (text === null || !isNode(parent)) return null
  const isTagged = parent.type === 'TaggedTemplateExpression'
  const tag = isTagged && isNode(parent.tag) && typeof parent.tag.name === 'string' ? parent.tag.name : null
  return { text, tag, isStatement: !isTagged && goesToDatabase(node, parent) }
}

/** The text of a template with parts, of a sum with a text in it, or of a `join` with a separator; null of all else. */
function textOf(node: Record<string, unknown>): string | null {
  if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis) && node.quasis.length > 1)
    return node.quasis.map(({ value }) => value.raw).join(PART)
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const texts = [node.left, node.right].map(side =>
      isNode(side) && typeof side.value === 'string' ? side.value : null,
    )
    return texts.every(text => text === null) ? null : texts.map(text => text ?? PART).join('')
  }
  if (node.type !== 'CallExpression' || !isNode(node.callee) || !isNode(node.callee.property)) return null
  if (node.callee.property.name !== 'join') return null
  const [separator] = Array.isArray(node.arguments) ? node.arguments : []
  return isNode(separator) && typeof separator.value === 'string' ? `${PART}${separator.value}${PART}` : null
}

function goesToDatabase(node: Node, parent: Record<string, unknown>): boolean {
  if (parent.type === 'Property' && isNode(parent.key)) return parent.key.name === 'text' && parent.value === node
  if (parent.type !== 'CallExpression' || !isNode(parent.callee) || !Array.isArray(parent.arguments)) return false
  const called = isNode(parent.callee.property) ? parent.callee.property.name : parent.callee.name
  return parent.arguments[0] === node && typeof called === 'string' && /^(?:query|copy(?:To|From))$/.test(called)
}

/** The module that a node imports or exports from: `import … from`, `export … from`, `import(…)`, `import('…').T`. */
function moduleOf(node: Record<string, unknown>): string | null {
  const source = node.type === 'TSImportType' ? (node.source ?? node.argument) : node.source
  return isNode(source) && typeof source.value === 'string' ? source.value : null
}

function isTypeOnly(node: Record<string, unknown>): boolean {
  return node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type'
}

/** The name of a function, or of the variable, property or method that holds it. */
function nameOf(node: unknown): string | null {
  if (!isNode(node)) return null
  const name = node.id ?? node.key
  return isNode(name) && typeof name.name === 'string' ? name.name : null
}

/** Replaces comments by blanks. Strings, templates and regular expressions that look like comments stay. */
function withoutComments(text: string): string {
  const token = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|(?<![:\\/])\/\/[^\n]*/g
  return text.replace(token, match => (match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match))
}
