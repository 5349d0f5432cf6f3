/**
 * A stored value that this version of the service does not know. A newer version wrote it, which may run beside this one during
 * an upgrade. What it concerns is refused, because a guess would be a wrong count; everything else goes on.
 */
export class UnknownValue extends Error {
  override readonly name = 'UnknownValue'

  /** @param subject what has the value, such as "the period of quota 64" */
  constructor(subject: string, value: unknown) {
    super(`${subject} is ${JSON.stringify(value)}, which this version of the service does not know`)
  }
}

/** The value, if this version knows it. @throws UnknownValue */
export function requireKnown<Value>(subject: string, values: readonly Value[], value: Value): Value {
  if (!values.includes(value)) throw new UnknownValue(subject, value)
  return value
}
