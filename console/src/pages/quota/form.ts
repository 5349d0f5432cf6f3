import type { FieldFaults } from '../../parts/field-faults.ts'
import type { Typed } from './typed.ts'

/** What every part of the form works with. */
export interface Form {
  typed: Typed
  change(part: Partial<Typed>): void
  faults: FieldFaults
}

/** What binds a field to its place in the form. */
export function bound<Name extends keyof Typed>({ typed, change, faults }: Form, name: Name) {
  return {
    value: typed[name],
    onChange: (value: Typed[Name]) => change({ [name]: value }),
    fault: faults.at(name),
  }
}
