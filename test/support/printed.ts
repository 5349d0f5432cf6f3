import { vi } from 'vitest'

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command in this process, and keeps what it prints. For what is the same however the process was started. */
export async function printed(run: () => Promise<number>): Promise<Outcome> {
  const kept = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      kept[name] += text
      return true
    }),
  )
  try {
    return { code: await run(), ...kept }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
