/** The command line in this process, with its output in memory. */
import { dispatch } from '../../src/cli/dispatch.ts'
import type { Terminal } from '../../src/cli/terminal.ts'

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export interface TestTerminal extends Terminal {
  stdout: string
  stderr: string
  /** What Ctrl-C does. */
  interrupt(): void
  /** Resolves when the results contain a text. */
  shows(text: string): Promise<void>
}

export function testTerminal(options: Partial<Terminal>): TestTerminal {
  const interruption = new AbortController()
  let printed = Promise.withResolvers<void>()
  const terminal: TestTerminal = {
    env: {},
    columns: null,
    hasColors: false,
    timeZone: 'UTC',
    now: Date.now,
    ask: null,
    interruption: () => interruption.signal,
    ...options,
    stdout: '',
    stderr: '',
    async print(text) {
      await options.print?.(text)
      terminal.stdout += text
      printed.resolve()
      printed = Promise.withResolvers()
    },
    complain(line) {
      terminal.stderr += `${line}\n`
    },
    interrupt: () => interruption.abort(),
    async shows(text) {
      while (!terminal.stdout.includes(text)) await printed.promise
    },
  }
  return terminal
}

/** Runs the command that the words name. */
export async function run(words: readonly string[], options: Partial<Terminal> = {}): Promise<Outcome> {
  const terminal = testTerminal(options)
  const code = await dispatch(words, terminal)
  return { code, stdout: terminal.stdout, stderr: terminal.stderr }
}
