/** The faults that show that the referee finds some. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'
import { applyPatch, FAULTS } from './faults.ts'

test('each fault has a patch, and each patch is planted', () => {
  const patches = readdirSync(join(import.meta.dirname, 'faults')).map(name => name.replace(/\.patch$/, ''))
  expect(patches.sort()).toEqual(Object.keys(FAULTS).sort())
})

test.each(Object.keys(FAULTS))('%s can be planted in the sources as they are', fault => {
  expect(applyPatch(fault, PROJECT, '--check')).toBe('')
})
