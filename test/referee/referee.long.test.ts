/**
 * Rounds of two services under load and faults, whose histories a model of the documents checks: README.md.
 *
 *     REFEREE_ROUNDS=200 SEED=… npm run test:long -- test/referee/referee.long.test.ts
 *
 * REFEREE_SHORT=true has short rounds. REFEREE_NEMESES names the faults that take turns, REFEREE_FOLDER where the histories stay.
 */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { whenDone } from '../support/cleanup.ts'
import { buildReferee } from './checker.ts'
import { isNemesis, LONG, type NemesisName, SHORT } from './nemeses.ts'
import { playRound } from './run.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const isShort = process.env.REFEREE_ROUNDS === undefined || process.env.REFEREE_SHORT === 'true'
const named = process.env.REFEREE_NEMESES?.split(',').filter(isNemesis)
const nemeses = named ?? (isShort ? SHORT : LONG)
const rounds = Number(process.env.REFEREE_ROUNDS ?? SHORT.length)
const folder = process.env.REFEREE_FOLDER ?? mkdtempSync(join(tmpdir(), 'sms-quota-referee-'))
let failed = 0
whenDone(() => {
  if (failed === 0 && process.env.REFEREE_FOLDER === undefined) rmSync(folder, { recursive: true, force: true })
})

const referee = buildReferee(folder)
if (typeof referee === 'string') {
  const line = `NOT RUN: the referee of histories: ${referee}`
  console.log(line)
  if (process.env.NOT_RUN_FILE !== undefined) appendFileSync(process.env.NOT_RUN_FILE, `${line}\n`)
}

describe('every answer is one that the documents allow, and every call succeeds in the calm after', () => {
  const played = Array.from({ length: rounds }, (_, round) => {
    const nemesis: NemesisName = nemeses[round % nemeses.length] ?? 'none'
    return { nemesis, seed: seed + round }
  })
  test.each(played)(
    '$nemesis (SEED=$seed)',
    async ({ nemesis, seed }) => {
      const file = join(folder, `${seed}-${nemesis}`, 'history.jsonl')
      failed += 1
      // What fails in the round does not spare its history the check: that says more.
      const played = await playRound({ seed, nemesis, file, isShort }).catch((error: unknown) => ({ error }))
      if (typeof referee !== 'string') {
        const { isIllegal, text } = await referee(file, isShort ? 2 : 20)
        const lines = text.split('\n').filter(line => /^(not checked|checked|SUSPECT)/.test(line))
        console.log(`SEED=${seed} ${nemesis}: ${lines.join('\n')}`)
        expect(isIllegal, `${file}\n${text}`).toBe(false)
      }
      if ('error' in played) throw played.error
      expect(played.operations).toBeGreaterThan(100)
      failed -= 1
    },
    600_000,
  )
})
