import { type RefObject, useEffect } from 'react'
import { ApiProblem } from '../api/problem.ts'

export interface FieldFaults<Field extends string> {
  /** What is wrong with a field, as it is shown beside it. */
  at: (field: Field) => string | undefined
  /** What went wrong otherwise; null if the fields tell it all. */
  rest: Error | null
}

/**
 * Sorts what the API found wrong to the fields of a form.
 *
 * @param fields the properties of the body that the form shows; a path within one belongs to it
 */
export function fieldFaults<Field extends string>(error: Error | null, fields: readonly Field[]): FieldFaults<Field> {
  const faults = error instanceof ApiProblem ? error.faults : []
  const fieldOf = (path: string) => fields.find(field => path === `/${field}` || path.startsWith(`/${field}/`))
  const isToldInFields = faults.length > 0 && faults.every(({ path }) => fieldOf(path) !== undefined)
  return {
    at: field => {
      const words = faults.filter(({ path }) => fieldOf(path) === field).map(({ message }) => sentence(message))
      return words.length === 0 ? undefined : words.join(' ')
    },
    rest: isToldInFields ? null : error,
  }
}

/** Leads to the first field that is wrong, whenever an attempt fails. */
export function useFocusOnFault(form: RefObject<HTMLElement | null>, error: Error | null): void {
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [form, error])
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
