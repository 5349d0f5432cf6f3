import { Button, Group } from '@mantine/core'
import { texts } from '../texts/texts.ts'

const PAGES = texts.components.pages

interface CursorPagerProps {
  /** The cursor of the current page; null on the first. */
  cursor: string | null
  /** The cursor of the next page; null on the last. */
  next: string | null
  onCursor: (cursor: string | null) => void
  /** The buttons to the first and to the next page. */
  labels?: readonly [first: string, next: string]
}

/** Pages through a list, by default one with the newest first. The browser's back button returns to the previous page. */
export function CursorPager({ cursor, next, onCursor, labels = [PAGES.newest, PAGES.older] }: CursorPagerProps) {
  if (cursor === null && next === null) return null
  return (
    <Group component="nav" aria-label={PAGES.label} justify="flex-end" mt="md">
      <Button.Group>
        <Button variant="default" size="xs" disabled={cursor === null} onClick={() => onCursor(null)}>
          {labels[0]}
        </Button>
        <Button variant="default" size="xs" disabled={next === null} onClick={() => onCursor(next)}>
          {labels[1]}
        </Button>
      </Button.Group>
    </Group>
  )
}
