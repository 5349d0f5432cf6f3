import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const PROJECT = resolve(import.meta.dirname, '../..')

/** Builds the console before a test run, so that no test sees another one than that of the sources. */
export default async function setup(): Promise<void> {
  // Vitest's own NODE_ENV would build the slow React that warns.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)('npm', ['run', '--silent', 'console'], { cwd: PROJECT, env })
}
