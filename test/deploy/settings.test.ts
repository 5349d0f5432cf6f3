import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configVariables } from '../../src/config/describe.ts'

const FILES = ['Dockerfile', 'compose.yaml', 'kubernetes/sms-quota.yaml', 'systemd/sms-quota.service']
/** Names of other programs: address families of systemd, settings of the image of PostgreSQL. */
const OTHERS = /^(?:AF|POSTGRES)_/

test('the ways to run it use settings that exist', () => {
  const settings = new Set<string>(configVariables({}).map(({ name }) => name))
  const used = FILES.flatMap(file =>
    [...readFileSync(`deploy/${file}`, 'utf8').matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name),
  )
  expect(used.length).toBeGreaterThan(10)
  const unknown = used.filter(
    name => !OTHERS.test(name) && !settings.has(name) && !settings.has(name.replace(/_FILE$/, '')),
  )
  expect(unknown).toEqual([])
})

test('the credentials of systemd that operations.md shows are those that its settings name, one by one', () => {
  const [, block = ''] = /^```ini\n([\s\S]*?)^```$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const loaded = [...block.matchAll(/^LoadCredential=([\w-]+):\/etc\/sms-quota\/\1$/gm)].map(([, name]) => name)
  const named = [...block.matchAll(/\b([A-Z_]+)_FILE=%d\/([\w-]+)/g)]
  expect(loaded).toHaveLength(3)
  expect(named.map(([, , name]) => name)).toEqual(loaded)
  const settings = new Set<string>(configVariables({}).map(({ name }) => name))
  for (const [, setting = '', name] of named) {
    expect(settings.has(setting)).toBe(true)
    expect(name).toBe(setting.toLowerCase().replaceAll('_', '-'))
  }
})
