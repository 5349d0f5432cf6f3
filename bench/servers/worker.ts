/** The child's side of `startWorker`: answers each message, and exits when the parent does. */
import type { WorkerMessage } from './processes.ts'

export function serveParent(answer: (message: never, note: (text: string) => void) => Promise<unknown>): void {
  const send = (message: WorkerMessage) => process.send?.(message)
  process.on('message', message => {
    answer(message as never, note => send({ note })).then(
      result => send({ answer: result }),
      error => send({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  // Calls exit so that Node.js writes the CPU profile.
  process.on('SIGTERM', () => process.exit())
}
