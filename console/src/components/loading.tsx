import { Skeleton, VisuallyHidden } from '@mantine/core'
import { texts } from '../texts/texts.ts'

const SLOTS = Array.from({ length: 20 }, (_, slot) => slot)

/**
 * Placeholder rows, as high as the expected content so that the layout does not shift.
 * @param rows at most 20
 */
export function Loading({ rows = 4, height = 28 }: { rows?: number; height?: number }) {
  return (
    <div role="status">
      <VisuallyHidden>{texts.components.loading}</VisuallyHidden>
      {SLOTS.slice(0, rows).map(slot => (
        <Skeleton key={slot} height={height} mb={8} />
      ))}
    </div>
  )
}
