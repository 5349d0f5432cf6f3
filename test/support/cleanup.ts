import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * Ends what a test has made: after the test that calls it, or, where tests are declared, after all of them. An `afterAll` that a test
 * calls would never run. The last one that was made ends first.
 */
export function whenDone(end: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) afterAll(async () => void (await end()))
  else onTestFinished(async () => void (await end()))
}
