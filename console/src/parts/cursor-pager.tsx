import { Button, Group } from '@mantine/core'

interface CursorPagerProps {
  /** Where this page begins; null is the first. */
  cursor: string | null
  /** Where the next begins; null on the last. */
  next: string | null
  onMove: (cursor: string | null) => void
}

/** The way through a list that is read from the newest on. "Back" of the browser goes a page back. */
export function CursorPager({ cursor, next, onMove }: CursorPagerProps) {
  if (cursor === null && next === null) return null
  return (
    <Group component="nav" aria-label="Pages of the list" justify="flex-end" mt="md">
      <Button.Group>
        <Button variant="default" size="xs" disabled={cursor === null} onClick={() => onMove(null)}>
          Newest
        </Button>
        <Button variant="default" size="xs" disabled={next === null} onClick={() => onMove(next)}>
          Older
        </Button>
      </Button.Group>
    </Group>
  )
}
