import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * Ends what a test has made: after the test that calls it, or, where tests are declared, after all of them. An `afterAll` that a test
 * calls would never run. The last one that was made ends first. Not for tests that run at the same time: which of them calls is not
 * known, so that it would end with another one.
 */
export function whenDone(end: () => unknown): void {
  const current = TestRunner.getCurrentTest()
  if (current?.concurrent === true) throw new Error('make it where tests are declared: this test runs beside others')
  if (current === undefined) afterAll(async () => void (await end()))
  else onTestFinished(async () => void (await end()))
}
