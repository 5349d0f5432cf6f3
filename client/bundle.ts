/**
 * Makes dist/testing.js: the fake server in one file with what it needs of the service and its packages. Beside it are the
 * licenses of these packages. The project's own license goes beside the package's README, where npm takes it from.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const FOLDER = import.meta.dirname

copyFileSync(join(FOLDER, '../LICENSE'), join(FOLDER, 'LICENSE'))

const { output } = await build({
  input: join(FOLDER, '../src/fake/main.ts'),
  platform: 'node',
  // The service's files import more than the fake server uses: the database, for example.
  treeshake: { moduleSideEffects: false },
  transform: { inject: { 'Map.groupBy': [join(FOLDER, '../src/fake/group-by.ts'), 'groupBy'] } },
  output: { file: join(FOLDER, 'dist/testing.js'), comments: { legal: true, annotation: false, jsdoc: false } },
})
const [chunk] = output
const foreign = chunk.imports.filter(name => !name.startsWith('node:'))
if (foreign.length > 0) throw new Error(`dist/testing.js imports ${foreign.join(', ')}`)

const packages = new Set<string>()
for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
  const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []
  if (folder !== undefined && renderedLength > 0) packages.add(folder)
}
const notices = [...packages].toSorted().map(folder => {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} has no file with its license`)
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
})
writeFileSync(join(FOLDER, 'dist/testing-licenses.txt'), `dist/testing.js contains:\n\n${notices.join('\n---\n\n')}`)
