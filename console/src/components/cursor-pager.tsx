import { Button, Group } from '@mantine/core'

interface CursorPagerProps {
  /** The cursor of the current page; null on the first. */
  cursor: string | null
  /** The cursor of the next page; null on the last. */
  next: string | null
  onCursor: (cursor: string | null) => void
}

/** Pages through a list, newest first. The browser's back button returns to the previous page. */
export function CursorPager({ cursor, next, onCursor }: CursorPagerProps) {
  if (cursor === null && next === null) return null
  return (
    <Group component="nav" aria-label="Pages of the list" justify="flex-end" mt="md">
      <Button.Group>
        <Button variant="default" size="xs" disabled={cursor === null} onClick={() => onCursor(null)}>
          Newest
        </Button>
        <Button variant="default" size="xs" disabled={next === null} onClick={() => onCursor(next)}>
          Older
        </Button>
      </Button.Group>
    </Group>
  )
}
