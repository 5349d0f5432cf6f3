import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createProcesses } from '../../client/src/processes.ts'
import { keyOfReference, type UserKey } from '../../client/src/user.ts'

interface Vector {
  readonly urls: readonly string[]
  /** Either this or `userRef`. */
  readonly userId?: number
  readonly userRef?: string
  readonly order: readonly string[]
}

const VECTORS: readonly Vector[] = JSON.parse(readFileSync(new URL('./rendezvous.json', import.meta.url), 'utf8'))
const USERS = Array.from({ length: 10_000 }, (_, index) => index + 1)
const FIVE = [1, 2, 3, 4, 5].map(n => `http://quota-${n}.internal:8080`)

const homesOf = (urls: readonly string[]) => {
  const processes = createProcesses(urls, () => 0)
  return USERS.map(userId => processes.of(userId).base)
}

/** The processes in the order in which a call about the user goes to them while each fails. */
function orderOf(urls: readonly string[], user: UserKey | undefined): string[] {
  const processes = createProcesses(urls, () => 0)
  return urls.map(() => {
    const process = processes.of(user)
    processes.note(process, 'away', 0)
    return process.base
  })
}

describe('the process of a user', () => {
  test.each(VECTORS)('user $userId $userRef of $urls, as in every client', ({ urls, userId, userRef, order }) => {
    const user = userRef === undefined ? userId : keyOfReference(userRef)
    expect(orderOf(urls, user)).toEqual(order)
    expect(orderOf(urls.toReversed(), user)).toEqual(order)
  })

  test('is found by its reference, too, in any characters', () => {
    const processes = createProcesses(FIVE, () => 0)
    const homes = USERS.map(n => processes.of(keyOfReference(`Kunde ${n} ä€😀`)).base)
    for (const url of FIVE) expect(homes.filter(home => home === url).length).toBeGreaterThan(1_800)
    expect(keyOfReference('a b/ä\uD800')).toBe('ref:a%20b%2F%C3%A4%EF%BF%BD')
  })

  test.each([2, 3, 5])('of %i: each has its part of the users, within 5 %', count => {
    const homes = homesOf(FIVE.slice(0, count))
    for (const url of FIVE.slice(0, count)) {
      const part = homes.filter(home => home === url).length / (USERS.length / count)
      expect(part).toBeGreaterThan(0.95)
      expect(part).toBeLessThan(1.05)
    }
  })

  test.each(FIVE)('without %s only its users move, and evenly', gone => {
    const before = homesOf(FIVE)
    const after = homesOf(FIVE.filter(url => url !== gone))
    const moved = before.flatMap((home, index) => (home === after[index] ? [] : { home, to: after[index] }))
    expect(moved.every(({ home }) => home === gone)).toBe(true)
    expect(moved).toHaveLength(before.filter(home => home === gone).length)
    for (const url of FIVE.filter(url => url !== gone)) {
      const share = moved.filter(({ to }) => to === url).length / moved.length
      expect(share).toBeGreaterThan(0.2)
      expect(share).toBeLessThan(0.3)
    }
  })
})

test.each([
  [[], 'empty list'],
  [['http://quota-1', 'quota-2'], 'no address'],
  [['http://quota-1', 'HTTP://Quota-1:80/'], 'names http://quota-1 twice'],
])('the URLs %j are refused: %s', (urls, message) => {
  expect(() => createProcesses(urls, () => 0)).toThrow(message)
})
