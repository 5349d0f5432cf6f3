import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** The folders in one, with a slash at the end, without what is built, measured or installed. */
function foldersIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !/^(?:\..*|node_modules|dist|coverage|__pycache__)$/.test(entry.name))
    .map(({ name }) => `${folder}${name}/`)
}

const foldersBelow = (folder: string): string[] => foldersIn(folder).flatMap(one => [one, ...foldersBelow(one)])

/** Every file of the project, by its path. */
const files = ['', ...foldersBelow('')].flatMap(folder =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ name }) => `${folder}${name}`),
)
const pages = files.filter(path => path.endsWith('.md')).map(path => ({ path, text: textOf(path) }))

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The targets of the page's links to files of this project, from the root, with the anchor if there is one. */
function linksOf({ path, text }: { path: string; text: string }): { target: string; anchor: string | undefined }[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter(link => !/^[a-z]+:/.test(link))
    .map(link => link.split('#'))
    .map(([file = '', anchor]) => ({ target: file === '' ? path : join(dirname(path), file), anchor }))
}

/** Anchors as hosts of Markdown make them from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('links between documents lead to a file and a heading', () => {
  const broken = pages.flatMap(page =>
    linksOf(page)
      .filter(({ target, anchor }) => {
        if (!existsSync(join(ROOT, target))) return true
        return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
      })
      .map(({ target, anchor }) => `${page.path}: ${target}${anchor === undefined ? '' : `#${anchor}`}`),
  )
  expect(pages.length).toBeGreaterThan(20)
  expect(broken).toEqual([])
})

test.each(['client/README.md', 'python/README.md'])(
  '%s, which is packed, links to nothing outside of its package',
  name => {
    const text = readFileSync(join(ROOT, name), 'utf8')
    expect(text.match(/\]\(\.\.[^)]*\)/g)).toBeNull()
  },
)

test('the index leads to every document', () => {
  const linked = new Set(
    ['docs/README.md', 'docs/decisions/README.md'].flatMap(path =>
      linksOf({ path, text: textOf(path) }).map(({ target }) => target),
    ),
  )
  const missing = pages.map(({ path }) => path).filter(path => path.startsWith('docs/') && path !== 'docs/README.md')
  expect(missing.filter(path => !linked.has(path))).toEqual([])
})

/** The folders of a tree in a block of code: one a line, or several side by side, each level two blanks further in. */
function foldersOfTree(tree: string): string[] {
  const path: string[] = []
  return tree.split('\n').flatMap(line => {
    const [, indent = '', names = ''] = /^((?: {2})*)((?:[\w.-]+\/(?: |$))+)/.exec(line) ?? []
    path.length = indent.length / 2
    const folders = names.split(' ').filter(name => name !== '')
    const found = folders.map(name => [...path, name].join(''))
    path.push(folders[0] ?? '')
    return found
  })
}

test('the tree in the architecture has the folders that exist, and no others', () => {
  const [, tree = ''] = /\n```\n(.*?)\n```\n/s.exec(textOf('docs/architecture.md')) ?? []
  const shown = foldersOfTree(tree)
  const whole = ['src/', 'client/', 'console/src/', 'test/'].flatMap(foldersBelow)
  expect(shown.toSorted()).toEqual([...foldersIn(''), 'console/src/', ...whole].toSorted())
})

/** A reader may write the end of a path. */
const endings = new Set(files.flatMap(path => path.split('/').map((_, n, parts) => parts.slice(n).join('/'))))

test('the files that documents name exist', () => {
  const missing = pages.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /`((?:src|test|console|client|migrations|scripts|bench|bin|docs|deploy|examples|python)\/[\w./-]+|[\w./-]+\.(?:tsx?|sql))`/g,
      ),
    ]
      .map(([, name = '']) => name)
      .filter(name => !existsSync(join(ROOT, name)) && !endings.has(name))
      .map(name => `${path}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('the glossary is in alphabetical order', () => {
  const words = [...textOf('docs/glossary.md').matchAll(/^\| ([a-z ]+) \|/gm)].map(([, word = '']) => word)
  const [, ...terms] = words
  expect(terms.length).toBeGreaterThan(40)
  expect(terms).toEqual(terms.toSorted((one, other) => one.localeCompare(other, 'en')))
})

/** The words of the table in the page of style, as one pattern. Between quotation marks a word is a name. */
function unwantedWords(): RegExp {
  const [, table = ''] = textOf('docs/style.md').split('\n## Words\n')
  const rows = [...table.matchAll(/^\| ([a-z, ]+) \|/gm)].map(([, words = '']) => words)
  return new RegExp(`(?<!['"\`])\\b(?:${rows.slice(1).join(', ').split(', ').join('|')})\\b(?!['"\`])`, 'gi')
}

/** Comments and strings, by the ending of a file. */
const PARTS: Record<string, RegExp> = {
  ts: /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gs,
  css: /\/\*.*?\*\//gs,
  py: /#[^\n]*|""".*?"""|"(?:\\.|[^"\\\n])*"/gs,
  sh: /#[^\n]*/g,
  yml: /#[^\n]*/g,
}

/** What people read of a file: all of a document or of the console's texts; comments, and strings with a blank, of code. */
function sentencesOf(path: string): { text: string; line: number }[] {
  const text = textOf(path)
  const kind = path.slice(path.lastIndexOf('.') + 1).replace('tsx', 'ts')
  if (kind === 'md' || path.startsWith('console/src/texts/')) return [{ text, line: 1 }]
  return [...text.matchAll(PARTS[kind] ?? /(?!)/g)]
    .filter(([part]) => part.includes(' '))
    .map(({ 0: part, index }) => ({ text: part, line: text.slice(0, index).split('\n').length }))
}

test('texts for people have no word that the page of style replaces', () => {
  const words = unwantedWords()
  const found = files
    // German, the table itself, and migrations, which never change.
    .filter(path => !/^(?:console\/src\/texts\/de\/|docs\/style\.md|migrations\/)/.test(path))
    .flatMap(path =>
      sentencesOf(path).flatMap(({ text, line }) =>
        [...text.matchAll(words)].map(
          ({ 0: word, index }) => `${path}:${line + text.slice(0, index).split('\n').length - 1}: ${word}`,
        ),
      ),
    )
  expect(found).toEqual([])
  expect(words.source).toContain('|whoever|')
})
