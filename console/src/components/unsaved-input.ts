import { useEffect } from 'react'
import type { AroundNavHandler } from 'wouter'
import { texts } from '../texts/texts.ts'

/** The page of the form whose input leaving would lose; null if there is none. A page has at most one form. */
let unsaved: { href: string; state: unknown } | null = null

/** Asks before the user leaves the page by a link, the back button or by closing the tab. @param is whether there is such input */
export function useUnsavedInput(is: boolean): void {
  useEffect(() => {
    if (!is) return
    unsaved = { href: location.href, state: history.state }
    return releaseInput
  }, [is])
}

/** Call it when the input is saved or given up on purpose, before the page navigates. */
export function releaseInput(): void {
  unsaved = null
}

/** Every navigation of the router passes through it. */
export const aroundNavigation: AroundNavHandler = (navigate, to, options) => {
  if (mayLeave()) navigate(to, options)
}

/** Guards the browser's own ways to leave a page. Call it before the router listens, which would leave it first. */
export function guardLeaving(): void {
  window.addEventListener('beforeunload', event => {
    if (unsaved !== null) event.preventDefault()
  })
  window.addEventListener('popstate', event => {
    const page = unsaved
    if (page === null || mayLeave()) return
    event.stopImmediatePropagation()
    // The browser is on the other entry already.
    history.pushState(page.state, '', page.href)
  })
}

function mayLeave(): boolean {
  if (unsaved !== null && !window.confirm(texts.components.leaving)) return false
  unsaved = null
  return true
}
