import { type RefObject, useEffect, useRef } from 'react'

/** Input by which a reader scrolls: the page then stays where they want it. */
const SCROLL_INPUT = ['wheel', 'touchstart', 'pointerdown', 'keydown']

/** How long a page may take until its parts have their final heights. */
const RESTORE_MS = 10_000

/** How far each page is scrolled, by its URL. */
const positions = new Map<string, number>()

/** Where the next page begins: at its top, or where one was. Null leaves it to the browser: before a reload nothing was recorded. */
let start: number | null = 0

// Before the router listens, because it shows the page as soon as it has heard of it. It sends `pushState` itself.
window.addEventListener('pushState', () => {
  start = 0
})
window.addEventListener('popstate', () => {
  start = positions.get(window.location.href) ?? null
})
window.addEventListener('scroll', () => positions.set(window.location.href, window.scrollY))

/**
 * After a navigation to another page, keyboard and screen readers continue at the top of its content, and it is shown from
 * its top. After Back and Forward it is shown where one was.
 *
 * @param location the path of the page
 */
export function useTopOfNewPage(location: string, content: RefObject<HTMLElement | null>): void {
  const shown = useRef(location)
  useEffect(() => {
    const element = content.current
    if (shown.current === location || element === null) return undefined
    shown.current = location
    element.focus({ preventScroll: true })
    if (start === 0) window.scrollTo(0, 0)
    return start ? keepAt(start, element) : undefined
  }, [location, content])
}

/**
 * The browser scrolls to where one was as far as the page reaches, which is not far while its parts load: this goes on as
 * they come, until the reader scrolls.
 *
 * @returns ends it
 */
function keepAt(y: number, content: HTMLElement): () => void {
  const { style } = document.documentElement
  const growth = new ResizeObserver(() => window.scrollTo(0, y))
  const timer = setTimeout(end, RESTORE_MS)
  // Otherwise the browser scrolls on when placeholders above make way for parts of another height.
  style.overflowAnchor = 'none'
  function end() {
    style.overflowAnchor = ''
    clearTimeout(timer)
    growth.disconnect()
    for (const type of SCROLL_INPUT) window.removeEventListener(type, end)
  }
  for (const type of SCROLL_INPUT) window.addEventListener(type, end)
  growth.observe(content)
  return end
}
