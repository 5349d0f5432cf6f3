import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const PROJECT = resolve(import.meta.dirname, '../..')

/** Builds the console before a test run, so that tests use the current sources. */
export default async function setup(): Promise<void> {
  // With the NODE_ENV of Vitest the build would contain the development version of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)('npm', ['run', '--silent', 'console'], { cwd: PROJECT, env })
}
