import { type RefObject, useEffect } from 'react'

/** When the service has refused a form, the cursor goes to the first that is wrong with it. */
export function useLeadToFault(form: RefObject<HTMLFormElement | null>, error: Error | null): void {
  useEffect(() => {
    if (error !== null && form.current !== null) leadToFault(form.current)
  }, [form, error])
}

/** Unfolds whatever hides something wrong, and puts the cursor into the first of it. */
export function leadToFault(form: HTMLFormElement): void {
  const wrong = [...form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')]
  for (const field of wrong) field.closest('details')?.setAttribute('open', '')
  const first = form.querySelector<HTMLElement>('[data-refusal]') ?? wrong[0]
  first?.focus()
}
