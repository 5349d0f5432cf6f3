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
