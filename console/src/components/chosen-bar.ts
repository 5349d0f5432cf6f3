import { type KeyboardEvent, type PointerEvent, useState } from 'react'

/** The bar of a chart that a pointer, a finger or the arrow keys choose, so that its figures can be read. */
export function useChosenBar(count: number, first: number) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = chosen ?? first
  const within = (index: number) => Math.max(0, Math.min(count - 1, index))

  function barAt({ currentTarget, clientX }: PointerEvent): number {
    const { left, width } = currentTarget.getBoundingClientRect()
    return within(Math.floor(((clientX - left) / width) * count))
  }
  function onKeyDown(event: KeyboardEvent) {
    const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: count - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setChosen(within(to))
  }
  return {
    chosen,
    shown,
    barAt,
    choose: setChosen,
    /** Of the element with the role `slider` that holds the bars, beside its name and the text of the bar. */
    slider: {
      'aria-valuemin': 0,
      'aria-valuemax': count - 1,
      onKeyDown,
      onPointerLeave: () => setChosen(null),
    },
  }
}
