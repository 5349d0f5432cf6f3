/**
 * Plants faults in a copy of the sources, one by one, and plays rounds of the referee until one is found, ten minutes at most each.
 *
 *     bin/node test/referee/faults.ts [FAULT …]
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PROJECT } from '../support/paths.ts'

/** The faults, each a patch beside this file, with what goes wrong in the rounds that suit it. */
export const FAULTS: Readonly<Record<string, string>> = {
  'answer-before-commit': 'kill_postmaster,kill_backend',
  'unguarded-quota': 'move_users',
  'unknown-outcome-unfenced': 'kill_backend',
  'repetition-from-memory': 'clock_leap',
  'window-rolled-twice': 'none,move_users',
  'refund-to-open-window': 'none',
  'cap-ignored-in-batch': 'none',
  'value-counter-read-early': 'move_users',
  'pause-not-passed-on': 'none',
  'transfer-received-twice': 'none',
  'committed-reservation-expires': 'none',
  'default-plan-twice': 'none,kill_service',
  // What a change of the engine's rows and batches may break.
  'denial-from-memory': 'move_users',
  'batch-out-of-order': 'none',
  'stored-draw-from-zero': 'move_users',
  'stored-expiry-releases': 'none',
}

export const patchOf = (fault: string) => join(import.meta.dirname, 'faults', `${fault}.patch`)

/** Applies a patch to sources, or only says whether it would. No history of git is needed. @returns what is wrong with it */
export function applyPatch(fault: string, folder: string, ...options: readonly string[]): string {
  // Else git would look for a repository above, and take the paths for those of that.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(folder, '..') }
  const { stderr, error } = spawnSync('git', ['apply', ...options, patchOf(fault)], {
    cwd: folder,
    encoding: 'utf8',
    env,
  })
  return error === undefined ? stderr : String(error)
}

const MOST_MS = 600_000
const ROUNDS = 40

function copySources(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sms-quota-fault-'))
  const isSource = (path: string) => !['node_modules', '.git'].includes(basename(path))
  cpSync(PROJECT, folder, { recursive: true, filter: isSource })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

interface Finding {
  readonly fault: string
  readonly 'found by': string
  readonly seconds: number
  /** Of an illegal history: a rule that an answer breaks. */
  readonly rule: string
}

/** What found a fault: an illegal history, a call that failed in the calm, or anything else that failed first. */
function findingIn(output: string): Pick<Finding, 'found by' | 'rule'> {
  const illegal = /^ILLEGAL[\s\S]*/m.exec(output)
  if (illegal !== null) return { 'found by': 'referee', rule: /^ {6}(\S.{0,119})/m.exec(illegal[0])?.[1] ?? '' }
  if (output.includes('calls that failed in the calm')) return { 'found by': 'calm', rule: '' }
  const [, message] = /^\S*(?:AssertionError|Error)\S*: (.{1,80})/m.exec(output) ?? []
  return { 'found by': message ?? (output.includes('NOT RUN') ? 'not run' : ''), rule: '' }
}

async function hunt(fault: string): Promise<Finding> {
  const folder = copySources()
  const began = performance.now()
  try {
    const complaint = applyPatch(fault, folder)
    if (complaint !== '') throw new Error(`${fault}: ${complaint}`)
    const words = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project=long',
      '--bail=1',
      'test/referee/referee.long.test.ts',
    ]
    const rounds = { REFEREE_ROUNDS: String(ROUNDS), REFEREE_SHORT: 'true', REFEREE_NEMESES: FAULTS[fault] ?? 'none' }
    const env = { ...process.env, NO_COLOR: '1', ...rounds, SEED: process.env.SEED ?? '1' }
    const child = spawn(join(folder, 'bin/node'), words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGTERM'), MOST_MS)
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
    clearTimeout(timer)
    const seconds = Math.round((performance.now() - began) / 1_000)
    return { fault, seconds, ...findingIn(`${said}\n${complained}`) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const asked = process.argv.slice(2)
  const unknown = asked.filter(name => !(name in FAULTS))
  if (unknown.length > 0) {
    console.error(`There is no fault ${unknown.join(', ')}. Faults: ${Object.keys(FAULTS).join(', ')}`)
    process.exit(2)
  }
  const results = []
  for (const fault of asked.length > 0 ? asked : Object.keys(FAULTS)) {
    const result = await hunt(fault)
    console.log(JSON.stringify(result))
    results.push(result)
  }
  console.table(results)
  process.exitCode = results.every(result => result['found by'] === 'referee' || result['found by'] === 'calm') ? 0 : 1
}
