import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const pages = [
  ...readdirSync(ROOT).filter(name => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
].map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

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

test('the index leads to every document', () => {
  const linked = new Set(
    ['docs/README.md', 'docs/decisions/README.md'].flatMap(path =>
      linksOf({ path, text: textOf(path) }).map(({ target }) => target),
    ),
  )
  const missing = pages.map(({ path }) => path).filter(path => path.startsWith('docs/') && path !== 'docs/README.md')
  expect(missing.filter(path => !linked.has(path))).toEqual([])
})

test('the files that the guides name exist', () => {
  const missing = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/architecture.md',
    'docs/guarantees.md',
    'docs/track-record.md',
  ].flatMap(path =>
    [...textOf(path).matchAll(/`((?:src|test|console|migrations|scripts|bench|bin|docs)\/[\w./-]+)`/g)]
      .map(([, name = '']) => name)
      .filter(name => !existsSync(join(ROOT, name)))
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
