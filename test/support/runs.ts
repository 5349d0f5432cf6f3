/** The random cases of a property: all in CI, a third of them otherwise. Each run draws others, so that what a third misses is found soon. */
export const runs = (count: number): number => (process.env.CI === undefined ? Math.ceil(count / 3) : count)
