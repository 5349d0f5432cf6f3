/** Finds the rows of a file of quotas that are about the same one, in 32 to 128 bytes for each row, however long its reference is. */

import { givesPlan } from './quota-file.ts'

/** An earlier row for the same quota or plan, and by what it is the same. */
interface EarlierRow {
  line: number
  by: 'id' | 'reference' | 'plan'
}

/** Finds rows that are about the same quota: by its id, or by its user and `external_ref`; and those that give the same user a plan. */
export interface RepeatedRows {
  add(row: Readonly<Record<string, unknown>>, line: number): EarlierRow | undefined
}

export function createRepeatedRows(): RepeatedRows {
  const lines = createLines()
  return {
    add({ id, user_id, user_ref, external_ref, plan }, line) {
      const keys: [EarlierRow['by'], string][] = []
      if (typeof id === 'number') keys.push(['id', `${id}`])
      // A row with an id gives it the reference, so that no other row can have it.
      if (typeof user_id === 'number' && typeof external_ref === 'string')
        keys.push(['reference', `${user_id} ${external_ref}`])
      // A reference has no blank.
      if (typeof user_id !== 'number' && typeof user_ref === 'string' && typeof external_ref === 'string')
        keys.push(['reference', `ref:${user_ref} ${external_ref}`])
      if (givesPlan({ plan }) && typeof user_id === 'number') keys.push(['plan', `plan ${user_id}`])
      else if (givesPlan({ plan }) && typeof user_ref === 'string') keys.push(['plan', `plan ref:${user_ref}`])
      for (const [by, key] of keys) {
        const earlier = lines.find(key)
        if (earlier !== undefined) return { line: earlier, by }
      }
      for (const [, key] of keys) lines.add(key, line)
      return undefined
    },
  }
}

/** 32-bit numbers of a key: three of a fingerprint, and the line, which is never 0. Of 10 million keys, two are alike once in 10^15 files. */
const WIDTH = 4
const FIRST_SLOTS = 1_024

/** The lines of keys. */
function createLines() {
  let slots = new Uint32Array(WIDTH * FIRST_SLOTS)
  let keys = 0
  return {
    find(key: string): number | undefined {
      return slots[findIn(slots, fingerprintOf(key)) + 3] || undefined
    },
    add(key: string, line: number): void {
      const fingerprint = fingerprintOf(key)
      slots.set([...fingerprint, line], findIn(slots, fingerprint))
      keys += 1
      if (keys * WIDTH * 2 > slots.length) slots = enlarged(slots)
    },
  }
}

type Fingerprint = readonly [number, number, number]

/** Where the key with this fingerprint is, or belongs: at least half of the slots are free. */
function findIn(slots: Uint32Array, [first, second, third]: Fingerprint): number {
  for (let at = (first * WIDTH) % slots.length; ; at = (at + WIDTH) % slots.length) {
    if (slots[at + 3] === 0) return at
    if (slots[at] === first && slots[at + 1] === second && slots[at + 2] === third) return at
  }
}

function enlarged(slots: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(slots.length * 2)
  for (let at = 0; at < slots.length; at += WIDTH) {
    const row = slots.subarray(at, at + WIDTH)
    const [first = 0, second = 0, third = 0, line = 0] = row
    if (line !== 0) larger.set(row, findIn(larger, [first, second, third]))
  }
  return larger
}

/** Steps after the last character. */
const LAST_STEPS = 4

/** Three 32-bit numbers. No step forgets anything of them, and the next steps spread what is there over all of their bits. */
function fingerprintOf(text: string): Fingerprint {
  let [first, second, third] = [text.length, 0x6a09e667, 0xbb67ae85]
  for (let at = 0; at < text.length + LAST_STEPS; at++) {
    // Behind the end it is NaN, which counts as 0.
    const unit = text.charCodeAt(at)
    first = second ^ Math.imul(turned(first ^ unit), 597_399_067)
    second = third ^ Math.imul(turned(second ^ unit), 2_869_860_233)
    third = first ^ Math.imul(turned(third ^ unit), 951_274_213)
  }
  return [mixed(first), mixed(second), mixed(third)]
}

const turned = (bits: number) => (bits << 13) | (bits >>> 19)

/** The last step of MurmurHash3. */
function mixed(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
