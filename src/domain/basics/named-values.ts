/**
 * An object that has a value for each name. Its type says more than a loop over the names can prove, so the caller names it: what
 * comes from a table of names is checked where the table is.
 */
export function namedValues<Result extends object>(
  names: readonly (keyof Result & string)[],
  valueFor: (name: keyof Result & string) => unknown,
): Result {
  // It runs for each quota of a list: `Object.fromEntries` takes twice as long.
  const values: Record<string, unknown> = {}
  for (const name of names) values[name] = valueFor(name)
  return values as Result
}
