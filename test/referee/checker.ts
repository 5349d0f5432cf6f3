/** The referee: a program in Go beside this file, which says of each history what a model of the documents does not allow. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const HERE = import.meta.dirname
const USUAL = '/usr/local/go/bin'

interface Verdict {
  /** Whether the history has a part that no order of its operations explains. */
  readonly isIllegal: boolean
  /** What the program printed. */
  readonly text: string
}

export type Check = (history: string) => Verdict

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
  return history => {
    const { status, stdout, stderr } = spawnSync(program, [history, '--picture', join(history, '..')], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    const text = `${stdout}${stderr}`
    if (status !== 0 && status !== 1) throw new Error(`the referee could not read ${history}: ${text}`)
    return { isIllegal: status === 1, text }
  }
}
