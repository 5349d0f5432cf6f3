import { type RefObject, useEffect } from 'react'

/** Focuses the first error of a form when the service rejects it. */
export function useFocusFirstError(form: RefObject<HTMLFormElement | null>, error: Error | null): void {
  useEffect(() => {
    if (error !== null && form.current !== null) focusFirstError(form.current)
  }, [form, error])
}

/** Opens every collapsed group with an invalid field, then focuses the form error or the first invalid field. */
export function focusFirstError(form: HTMLFormElement): void {
  const invalid = [...form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')]
  for (const field of invalid) field.closest('details')?.setAttribute('open', '')
  const first = form.querySelector<HTMLElement>('[data-form-error]') ?? invalid[0]
  first?.focus()
}
