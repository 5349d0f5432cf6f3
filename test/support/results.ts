import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

const SHOWN_LINES = 12

interface Failure {
  readonly title: string
  readonly errors: readonly { readonly message: string; readonly stack?: string | undefined }[]
}

/**
 * Writes what a run found to a file, for `.ci/run`: first how many passed and failed, then what failed and the beginning of its
 * errors. A skipped test proves nothing, so it counts as failed; so do an error of a file or a suite, and one outside of all tests.
 */
export function results(file: string): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const tests = modules.flatMap(module => Array.from(module.children.allTests()))
      const passed = tests.filter(test => test.result().state === 'passed')
      const failures: Failure[] = [
        ...modules.flatMap(failuresOf),
        ...unhandledErrors.map(error => ({ title: 'outside of all tests', errors: [error] })),
      ]
      const lines = failures.flatMap(({ title, errors }) => [title, ...errors.flatMap(beginning)])
      writeFileSync(file, [`${passed.length} ${failures.length}`, ...lines, ''].join('\n'))
    },
  }
}

function failuresOf(module: TestModule): Failure[] {
  const suites = [module, ...module.children.allSuites()].map(suite => ({
    title: suite.type === 'module' ? suite.relativeModuleId : `${module.relativeModuleId} > ${suite.fullName}`,
    errors: suite.errors(),
  }))
  const tests = Array.from(module.children.allTests(), test => ({ test, result: test.result() }))
    .filter(({ result }) => result.state !== 'passed')
    .map(({ test, result }) => ({
      title: `${module.relativeModuleId} > ${test.fullName} (${result.state})`,
      errors: result.errors ?? [],
    }))
  return [...suites.filter(({ errors }) => errors.length > 0), ...tests]
}

const beginning = ({ message, stack }: Failure['errors'][number]) =>
  (stack ?? message)
    .trim()
    .split('\n')
    .filter(line => !line.includes('/node_modules/'))
    .slice(0, SHOWN_LINES)
    .map(line => `    ${line}`)
