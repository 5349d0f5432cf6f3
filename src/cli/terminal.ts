import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'

/** Where a command runs: what it reads of its surroundings, and where its output goes. */
export interface Terminal {
  readonly env: NodeJS.Dict<string>
  /** How many characters fit into a line; null if results go to a file or a pipe. */
  readonly columns: number | null
  readonly hasColors: boolean
  /** The IANA name of the local time zone. */
  readonly timeZone: string
  /** Milliseconds since 1970. */
  now(): number
  /** Writes results. Resolves when they are passed on. @throws an error that `isClosedPipe` knows */
  print(text: string): Promise<void>
  /** Writes a line of messages. */
  complain(line: string): void
  /** Asks a question and resolves to the answer; null if there is no terminal to ask on. */
  readonly ask: ((question: string) => Promise<string>) | null
  /** Aborts at the next Ctrl-C or SIGTERM, which then does not end the process. */
  interruption(): AbortSignal
}

/** Whether the reader of the results has left, as `head` does. */
export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  return {
    env,
    // Some terminals without a window say 0.
    columns: stdout.isTTY ? stdout.columns || null : null,
    hasColors: stdout.isTTY && stdout.hasColors(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    now: Date.now,
    print: text =>
      new Promise((resolve, reject) => {
        // Without a listener the process would end with a stack trace, beside the error that `write` reports.
        stdout.once('error', reject)
        stdout.write(text, error => {
          if (error) return reject(error)
          stdout.off('error', reject)
          resolve()
        })
      }),
    complain(line) {
      stderr.write(`${line}\n`)
    },
    ask: stdin.isTTY && stderr.isTTY ? ask : null,
    interruption() {
      const controller = new AbortController()
      const signals = ['SIGINT', 'SIGTERM'] as const
      const abort = () => {
        for (const signal of signals) process.off(signal, abort)
        controller.abort()
      }
      for (const signal of signals) process.on(signal, abort)
      return controller.signal
    },
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C, Ctrl-D, for which the question fails, and the end of the input are answers, too: no.
  const ends = ['SIGINT', 'close'].map(event => once(lines, event).then(() => ''))
  try {
    return await Promise.race([lines.question(question).catch(() => ''), ...ends])
  } finally {
    lines.close()
  }
}
