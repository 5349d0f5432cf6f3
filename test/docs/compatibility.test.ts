/** The page of what was tried names what the script tries, and tests that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8')
const script = readFileSync(join(ROOT, 'scripts/generated-clients.ts'), 'utf8')

test('each generator that the script runs is there, with its version', () => {
  const versions = [...script.matchAll(/(\w+): '(v?\d+\.\d+\.\d+)'/g)].map(([, name = '', version = '']) => {
    const written = name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
    return { written, version }
  })
  expect(versions.map(({ written }) => written)).toEqual([
    'openapi-generator',
    'oapi-codegen',
    'openapi-python-client',
    'openapi-typescript',
  ])
  for (const { written, version } of versions) {
    const row = page.split('\n').filter(line => line.startsWith(`| ${written} |`))
    expect(
      row.some(line => line.includes(`| ${version} |`)),
      written,
    ).toBe(true)
  }
})

test('the versions of packages are those that the project has', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(page).toContain(`| ${dependencies['sms-segments-calculator']} |`)
  expect(page).toContain(`| oidc-provider ${devDependencies['oidc-provider'].split('.').slice(0, 2).join('.')} |`)
})

test('each test that it names exists', () => {
  const named = [...page.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
})
