/** The random cases of a property: all in CI, a third of them otherwise. Each run draws others, so that what a third misses is found soon. */
export const runs = (count: number): number => (process.env.CI === undefined ? Math.ceil(count / 3) : count)

/** Seeds of made-up histories, as many as a property has runs. What fails names its own. */
export const seeds = (count: number): number[] =>
  Array.from({ length: runs(count) }, () => Math.floor(Math.random() * 2 ** 31))
