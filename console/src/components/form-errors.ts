import { type ReactNode, type RefObject, useEffect } from 'react'
import { ApiProblem } from '../api/problem.ts'

export interface FieldErrors<Field extends string = string> {
  /** The error message of a field; undefined if there is none. */
  at(field: Field): ReactNode
  /** The error that the fields do not show; null if they show all of it. */
  rest: Error | null
}

/**
 * Assigns the validation issues of an API error to the fields of a form.
 *
 * @param fields names of the shown body properties or parameters; an issue inside a property belongs to its field
 * @param words what a field accepts, in the language of the page; without it the words of the service are shown
 * @param under the pointer to the part of the body that has these properties, such as `/slots/1`; by default the body itself
 */
export function fieldErrors<Field extends string>(
  error: Error | null,
  fields: readonly Field[],
  words: Partial<Record<Field, string>> = {},
  under = '',
): FieldErrors<Field> {
  const messages = new Map<string, string[]>()
  let isComplete = true
  for (const { path, message } of issuesOf(error)) {
    if (under !== '' && !path.startsWith(`${under}/`)) continue
    const [name = '', ...inside] = path.slice(under.length).replace(/^\//, '').split('/')
    // The message names the key of a map; the index of a list item would not help the user.
    const text = sentence([...inside.filter(step => !/^\d+$/.test(step)), message].join(' '))
    if (fields.some(field => field === name)) messages.set(name, [...(messages.get(name) ?? []), text])
    else isComplete = false
  }
  const at = (field: Field) => (messages.has(field) ? (words[field] ?? messages.get(field)?.join(' ')) : undefined)
  return { at, rest: isComplete && messages.size > 0 ? null : error }
}

function issuesOf(error: Error | null): ApiProblem['issues'] {
  // The issues of an idempotency mismatch describe an earlier request, not this form.
  return error instanceof ApiProblem && error.code !== 'idempotency_mismatch' ? error.issues : []
}

function sentence(text: string): string {
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1)
  return capitalized.endsWith('.') ? capitalized : `${capitalized}.`
}

/** Focuses the first error of a form when the service rejects it. */
export function useFocusFirstError(form: RefObject<HTMLFormElement | null>, error: Error | null): void {
  useEffect(() => {
    if (error !== null && form.current !== null) focusFirstError(form.current)
  }, [form, error])
}

/** Opens every collapsed group with an invalid field, and the groups around it, then focuses the form error or the first invalid field. */
export function focusFirstError(form: HTMLFormElement): void {
  const invalid = [...form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')]
  for (const field of invalid)
    for (let group = field.closest('details'); group !== null; group = group.parentElement?.closest('details') ?? null)
      group.open = true
  const first = form.querySelector<HTMLElement>('[data-form-error]') ?? invalid[0]
  first?.focus()
}
