import type { FieldErrors } from '../../components/field-errors.ts'
import type { FormValues } from './form-values.ts'

/** Values, setter and errors of the quota form, as its groups of fields use them. */
export interface QuotaFormState {
  values: FormValues
  change(part: Partial<FormValues>): void
  errors: FieldErrors
}

/** The props of a field. */
export function fieldProps<Name extends keyof FormValues>({ values, change, errors }: QuotaFormState, name: Name) {
  return {
    value: values[name],
    onChange: (value: FormValues[Name]) => change({ [name]: value }),
    error: errors.at(name),
  }
}
