/** The lines of a document: read from its `sh` blocks, pasted into one shell, compared with what it shows. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { PROJECT, SHELL_PATH } from './paths.ts'

/** A command of a document, and what the document shows of its answer: a part of its JSON, or the whole text. */
export interface Line {
  command: string
  expected: object | string | null
}

/** The lines of the document's `sh` blocks; of one section, if a heading of level two is given. */
export async function linesOf(document: string, section?: string): Promise<Line[]> {
  const text = await readFile(join(PROJECT, document), 'utf8')
  const part = section === undefined ? text : text.split(/^## /m).find(it => it.startsWith(`${section}\n`))
  if (part === undefined) throw new Error(`${document} has no section "${section}"`)
  return [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => linesOfBlock(block))
}

export function linesOfBlock(block: string): Line[] {
  const lines: Line[] = []
  for (const line of block.split('\n')) {
    const last = lines.at(-1)
    if (line.startsWith('#> ')) {
      if (last === undefined || last.expected !== null) throw new Error(`no command answers ${line}`)
      const shown = line.slice(3)
      last.expected = shown.startsWith('{') ? JSON.parse(shown) : shown
    } else if (last !== undefined && isOpen(last)) {
      last.command += `\n${line}`
    } else if (line.trim() !== '') {
      lines.push({ command: line, expected: null })
    }
  }
  return lines
}

/** Whether a command reads the lines behind it, up to the line END. */
const isOpen = ({ command }: Line) => command.includes("<<'END'") && !command.endsWith('\nEND')

const MARK = '<<<end of line>>>'

/** Pastes the commands into one shell with these environment variables. Returns what each printed. */
export async function paste(
  lines: readonly Line[],
  { url, ...env }: { url: string; [name: string]: string },
): Promise<string[]> {
  const script = lines
    .map(({ command }) => `${command}\nprintf '%s' '${MARK}'`)
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', url)
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], {
    cwd: PROJECT,
    env: { PATH: SHELL_PATH, ...env },
  })
  return stdout.split(MARK)
}

/** Expects of each line that it printed what the document shows. */
export function expectShown(lines: readonly Line[], printed: readonly string[]): void {
  for (const [index, { command, expected }] of lines.entries()) {
    const text = printed[index] ?? ''
    if (typeof expected === 'string') expect(text.trimEnd(), command).toBe(expected)
    else if (expected !== null) expect(JSON.parse(text), command).toMatchObject(expected)
  }
}

/** Method and path of a curl line; a shell variable in the path becomes `*`. */
export function callOf(command: string): string | undefined {
  const [, path] = /curl -s .*"\$API([^"?]*)/.exec(command) ?? []
  const [, method = / -d /.test(command) ? 'POST' : 'GET'] = / -X (\w+)/.exec(command) ?? []
  return path === undefined ? undefined : `${method} /api/sms${path.replaceAll(/\$\w+/g, '*')}`
}
