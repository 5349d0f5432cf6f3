import { type RefObject, useEffect, useRef } from 'react'

const TRAVERSAL_EVENTS = ['popstate', 'pushState']

/**
 * After a navigation to another page, keyboard and screen readers continue at the top of its content, and it is shown from
 * its top. After Back and Forward the browser scrolls to where one was.
 *
 * @param location the path of the page
 */
export function useTopOfNewPage(location: string, content: RefObject<HTMLElement | null>): void {
  const shown = useRef(location)
  const isTraversal = useRef(false)
  useEffect(() => {
    const onEvent = ({ type }: Event) => {
      isTraversal.current = type === 'popstate'
    }
    // Captured, because the router may show the page as soon as it has heard of it. It sends `pushState` itself.
    for (const type of TRAVERSAL_EVENTS) window.addEventListener(type, onEvent, true)
    return () => {
      for (const type of TRAVERSAL_EVENTS) window.removeEventListener(type, onEvent, true)
    }
  }, [])
  useEffect(() => {
    if (shown.current === location) return
    shown.current = location
    content.current?.focus({ preventScroll: true })
    if (!isTraversal.current) window.scrollTo(0, 0)
  }, [location, content])
}
