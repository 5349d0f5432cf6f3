/** The other end of `startWorker`: answers each message that comes, one after the other, and ends with its parent. */
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
  // Through `exit`, so that a CPU profile is written.
  process.on('SIGTERM', () => process.exit())
}
