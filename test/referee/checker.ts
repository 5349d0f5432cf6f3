/** The referee: a program in Go beside this file, which says of each history what a model of the documents does not allow. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'

const HERE = import.meta.dirname
const USUAL = '/usr/local/go/bin'

interface Verdict {
  /** Whether the history has a part that no order of its operations explains. */
  readonly isIllegal: boolean
  /** What the program printed. */
  readonly text: string
}

/** @param seconds how long a part of the history may take */
export type Check = (history: string, seconds: number) => Promise<Verdict>

/** Builds the program. A text says why there is none. */
export function buildReferee(folder: string): Check | string {
  const path = [...(process.env.PATH ?? '').split(delimiter), USUAL]
  const go = path.map(place => join(place, 'go')).find(file => existsSync(file))
  if (go === undefined) return `there is no go in PATH or ${USUAL}`
  if (!existsSync(join(HERE, 'main.go'))) return 'there is no model beside this test'
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'referee')
  const built = spawnSync(go, ['build', '-o', program, '.'], { cwd: HERE, encoding: 'utf8' })
  if (built.status !== 0) return `go build: ${built.stderr.trim().split('\n').at(-1) ?? String(built.error)}`
  return async (history, seconds) => {
    const words = [history, '--timeout', `${seconds}s`, '--picture', join(history, '..')]
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    const [said, complained, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    if (status !== 0 && status !== 1) throw new Error(`the referee could not read ${history}: ${said}${complained}`)
    return { isIllegal: status === 1, text: `${said}${complained}` }
  }
}
