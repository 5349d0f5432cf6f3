import { Button, Group } from '@mantine/core'

interface CursorPagerProps {
  /** Where the page begins; null on the first. */
  cursor: string | null
  /** Where the next one does; null on the last. */
  next: string | null
  onCursor: (cursor: string | null) => void
}

/** The way through a list that is walked from the newest on; "back" of the browser goes back a page. */
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
