/** What finds users by references, and remembers them: with a clock of the test and a table in memory. */
import { expect, test } from 'vitest'
import { MEMORY_MS } from '../../src/domain/time/memories.ts'
import { Overloaded } from '../../src/engine/completion.ts'
import { createUserReferences } from '../../src/http/references/references.ts'

function createTable(rows: Record<string, number>) {
  const table = new Map(Object.entries(rows))
  const statements: string[][] = []
  const clock = { ms: 1_000 }
  const gates: PromiseWithResolvers<void>[] = []
  let isGated = false
  return {
    table,
    statements,
    clock,
    /** From now on a statement ends when `gates` lets it, with what the table had when it came. */
    gate: () => {
      isGated = true
      return gates
    },
    options: {
      monotonicMs: () => clock.ms,
      async read(refs: readonly string[]) {
        statements.push([...refs])
        const found = new Map(refs.flatMap(ref => (table.has(ref) ? [[ref, table.get(ref) ?? 0] as const] : [])))
        if (isGated) {
          const gate = Promise.withResolvers<void>()
          gates.push(gate)
          await gate.promise
        }
        return found
      },
    },
  }
}

test('a reference is read once, and remembered for a bounded time', async () => {
  const { options, statements, clock } = createTable({ ann: 7 })
  const references = createUserReferences(options)
  expect(references.recall('ann')).toBeUndefined()
  expect(await references.find('ann')).toBe(7)
  expect(references.recall('ann')).toBe(7)
  clock.ms += MEMORY_MS.userOfReference - 1
  expect(references.recall('ann')).toBe(7)
  clock.ms += 1
  expect(references.recall('ann')).toBeUndefined()
  expect(statements).toEqual([['ann']])
})

test('all references of a tick share a statement', async () => {
  const { options, statements } = createTable({ ann: 7, bea: 8 })
  const references = createUserReferences(options)
  const found = await Promise.all(['ann', 'bea', 'ann', 'no-user'].map(ref => references.find(ref)))
  expect(found).toEqual([7, 8, 7, undefined])
  expect(statements).toEqual([['ann', 'bea', 'no-user']])
})

test('a reference of no user is not remembered: it may be given to one at any time', async () => {
  const { options, table } = createTable({})
  const references = createUserReferences(options)
  expect(await references.find('ann')).toBeUndefined()
  table.set('ann', 7)
  expect(await references.find('ann')).toBe(7)
})

test('what comes while a statement is under way is read behind it, and not answered by it', async () => {
  const { options, table, statements, gate } = createTable({})
  const gates = gate()
  const references = createUserReferences(options)
  const early = references.find('ann')
  await expect.poll(() => gates.length).toBe(1)
  // The reference is given to a user, and a call that comes after that must find it.
  table.set('ann', 7)
  const late = references.find('ann')
  gates[0]?.resolve()
  expect(await early).toBeUndefined()
  await expect.poll(() => gates.length).toBe(2)
  gates[1]?.resolve()
  expect(await late).toBe(7)
  expect(statements).toEqual([['ann'], ['ann']])
})

test('a late answer is remembered from when it was asked for', async () => {
  const { options, clock, gate } = createTable({ ann: 7 })
  const gates = gate()
  const references = createUserReferences(options)
  const found = references.find('ann')
  await expect.poll(() => gates.length).toBe(1)
  clock.ms += MEMORY_MS.userOfReference
  gates[0]?.resolve()
  expect(await found).toBe(7)
  expect(references.recall('ann')).toBeUndefined()
})

test('a statement that fails is the failure of its references only', async () => {
  const { options } = createTable({ ann: 7 })
  let failures = 1
  const references = createUserReferences({
    ...options,
    read: refs => (failures-- > 0 ? Promise.reject(new Error('away')) : options.read(refs)),
  })
  await expect(references.find('ann')).rejects.toThrow('away')
  expect(await references.find('ann')).toBe(7)
})

test('memory is bounded, and so is what waits', async () => {
  const { options, statements } = createTable({ a: 1, b: 2, c: 3 })
  const references = createUserReferences({ ...options, maxSize: 2 })
  for (const ref of ['a', 'b', 'c']) await references.find(ref)
  expect(['a', 'b', 'c'].map(ref => references.recall(ref))).toEqual([undefined, 2, 3])
  const many = Array.from({ length: 10_001 }, (_, n) => references.find(`r${n}`))
  await expect(many.at(-1)).rejects.toThrow(Overloaded)
  await Promise.all(many.slice(0, -1))
  expect(Math.max(...statements.map(refs => refs.length))).toBe(1_000)
})
