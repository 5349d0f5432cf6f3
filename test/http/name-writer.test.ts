/** Which names are written, and when: the memory between the tokens and the table. */
import { describe, expect, test } from 'vitest'
import type { SeenName } from '../../src/db/users/principal-names.ts'
import type { Role } from '../../src/domain/basics/role.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createNameWriter } from '../../src/http/auth/name-writer.ts'

/** A writer whose statements end when the test says so. */
function startWriter() {
  const statements: { names: readonly SeenName[]; end: PromiseWithResolvers<void> }[] = []
  const warnings: string[] = []
  const users = new Map([['C-9', 9]])
  const writer = createNameWriter({
    usersOf: async refs => new Map([...users].filter(([ref]) => refs.includes(ref))),
    write(names) {
      const end = Promise.withResolvers<void>()
      statements.push({ names, end })
      return end.promise
    },
    log: { warn: (_: object, message: string) => warnings.push(message) },
  })
  return {
    writer,
    warnings,
    statements,
    users,
    written: () => statements.map(({ names }) => names.map(({ subject, name }) => `${subject}: ${name}`)),
    async end(index: number, error?: Error) {
      const { end } = statements[index] ?? {}
      if (error === undefined) end?.resolve()
      else end?.reject(error)
      await end?.promise.catch(() => {})
      // What goes on behind the statement.
      for (let n = 0; n < 5; n++) await Promise.resolve()
    },
  }
}

const ADMIN: Role[] = ['admin']
const ann = { subject: 'a', name: 'Ann', userId: null, userRef: null, roles: ADMIN }
const ben = { subject: 'b', name: 'Ben', userId: 7, userRef: null, roles: ADMIN }

describe('of two tokens, one after the other', () => {
  test.each([
    ['the same one', ann, ann, 1, [['a: Ann']]],
    ['another name of the subject', ann, { ...ann, name: 'Ann Lee' }, 1, [['a: Ann'], ['a: Ann Lee']]],
    ['another subject with the same name', ann, { ...ann, subject: 'a2' }, 1, [['a: Ann'], ['a2: Ann']]],
    ['the same one within a day', ann, ann, DAY_MS - 1, [['a: Ann']]],
    ['the same one after a day', ann, ann, DAY_MS, [['a: Ann'], ['a: Ann']]],
    ['no name', ann, { ...ann, name: null }, 1, [['a: Ann']]],
    ['a customer, without any role', ann, { ...ben, roles: [] }, 1, [['a: Ann']]],
    ['a sender', ann, { ...ben, roles: ['sender'] as Role[] }, 1, [['a: Ann'], ['b: Ben']]],
  ])('%s', async (_, first, second, laterMs, expected) => {
    const { writer, written, end } = startWriter()
    writer.note(first, 0)
    await end(0)
    writer.note(second, laterMs)
    expect(written()).toEqual(expected)
  })
})

test('one statement runs at a time, of at most 100 names, the newest of each subject', async () => {
  const { writer, written, end } = startWriter()
  writer.note(ann, 0)
  for (let n = 0; n < 150; n++) writer.note({ ...ann, subject: `s${n}` }, 0)
  writer.note({ ...ann, subject: 's0', name: 'Renamed' }, 0)
  expect(written()).toEqual([['a: Ann']])
  await end(0)
  expect(written().map(names => names.length)).toEqual([1, 100])
  expect(written()[1]?.[0]).toBe('s0: Renamed')
  await end(1)
  expect(written().map(names => names.length)).toEqual([1, 100, 50])
})

test('a name is written with the user of its token, also of one that names the user by a reference', async () => {
  const { writer, statements } = startWriter()
  writer.note(ben, 0)
  writer.note({ ...ann, userRef: 'no-user' }, 0)
  await expect.poll(() => statements.length).toBe(1)
  statements[0]?.end.resolve()
  await expect.poll(() => statements.length).toBe(2)
  statements[1]?.end.resolve()
  writer.note({ ...ann, subject: 'c', userRef: 'C-9' }, 0)
  await expect.poll(() => statements.length).toBe(3)
  expect(statements.flatMap(({ names }) => names.map(({ subject, user_id }) => [subject, user_id]))).toEqual([
    ['b', 7],
    ['a', null],
    ['c', 9],
  ])
})

test('a name whose reference is no user’s yet is written with each token, until a user has it', async () => {
  const { writer, statements, users, end } = startWriter()
  const later = { ...ann, userRef: 'D-1' }
  for (const count of [1, 2]) {
    writer.note(later, 0)
    await expect.poll(() => statements.length).toBe(count)
    await end(count - 1)
    users.set('D-1', 11)
  }
  writer.note(later, 0)
  await writer.stop()
  expect(statements.map(({ names }) => names[0]?.user_id)).toEqual([null, 11])
})

test('at most 1,000 wait; those beyond are dropped, and written when they come again', async () => {
  const { writer, written, end } = startWriter()
  for (let n = 0; n <= 1_001; n++) writer.note({ ...ann, subject: `s${n}` }, 0)
  for (let n = 0; n < 11; n++) await end(n)
  const all = written().flat()
  expect(all).toHaveLength(1_001)
  expect(all).not.toContain('s1001: Ann')
  writer.note({ ...ann, subject: 's1001' }, HOUR_MS)
  expect(written().flat()).toContain('s1001: Ann')
})

test('what was not written is logged, and written when the token comes again', async () => {
  const { writer, warnings, written, end } = startWriter()
  writer.note(ann, 0)
  await end(0, new Error('the database is away'))
  expect(warnings).toEqual(['names: not stored, trying again with the next token'])
  writer.note(ann, 1)
  expect(written()).toEqual([['a: Ann'], ['a: Ann']])
})

test('a stop waits for the statement under way and writes nothing further', async () => {
  const { writer, written, end } = startWriter()
  writer.note(ann, 0)
  writer.note(ben, 0)
  let isStopped = false
  const stopping = writer.stop().then(() => {
    isStopped = true
  })
  await Promise.resolve()
  expect(isStopped).toBe(false)
  await end(0)
  await stopping
  writer.note(ben, 1)
  expect(written()).toEqual([['a: Ann']])
})
