import { Skeleton, VisuallyHidden } from '@mantine/core'
import type { PageShape } from '../pages.tsx'
import { texts } from '../texts/texts.ts'
import classes from './skeletons.module.css'

/** The placeholders of each shape. */
const PARTS = {
  table: { count: 10, height: 40 },
  tiles: { count: 4, height: 180 },
  form: { count: 6, height: 56 },
} as const satisfies Record<PageShape, object>

/** The shape of a page while its file is loaded: its title, and below it what the page consists of. */
export function PageSkeleton({ shape = 'table' }: { shape?: PageShape | undefined }) {
  const { count, height } = PARTS[shape]
  return (
    <div role="status">
      <VisuallyHidden>{texts.shell.loading}</VisuallyHidden>
      <Skeleton height={26} width="11rem" mb={8} />
      <Skeleton height={14} width="18rem" maw="100%" mb={24} />
      <div className={classes[shape]}>
        {Array.from({ length: count }, (_, slot) => slot).map(slot => (
          <Skeleton key={slot} height={height} />
        ))}
      </div>
    </div>
  )
}

/** The shape of every page, until the session is known. As in index.html, which shows it before any script runs. */
export function FrameSkeleton() {
  return (
    <div className="frame" role="status">
      <VisuallyHidden>{texts.shell.loading}</VisuallyHidden>
      <div className="frame-header" />
      <div className="frame-pages" />
      <div className="frame-content" />
    </div>
  )
}
