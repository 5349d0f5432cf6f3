import { Button, Group, Text } from '@mantine/core'
import { formatUnits } from './units.tsx'

interface Page {
  /** From 1. */
  page: number
  page_size: number
  total: number
  onPage: (page: number) => void
}

/** Where a list stands, and the way through it. */
export function Pager({ page, page_size, total, onPage }: Page) {
  const last = Math.max(1, Math.ceil(total / page_size))
  const first = (page - 1) * page_size + 1
  const words =
    first > total
      ? `None here, ${formatUnits(total)} in all`
      : `${formatUnits(first)}–${formatUnits(Math.min(total, page * page_size))} of ${formatUnits(total)}`
  return (
    <Group component="nav" aria-label="Pages of the list" justify="space-between" gap="sm" mt="md">
      <Text size="sm" c="dimmed" role="status">
        {words}
      </Text>
      <Button.Group>
        <Step label="First" to={1} isIdle={page === 1} onPage={onPage} />
        <Step label="Previous" to={Math.min(page - 1, last)} isIdle={page === 1} onPage={onPage} />
        <Step label="Next" to={page + 1} isIdle={page >= last} onPage={onPage} />
        <Step label="Last" to={last} isIdle={page >= last} onPage={onPage} />
      </Button.Group>
    </Group>
  )
}

function Step({ label, to, isIdle, onPage }: { label: string; to: number; isIdle: boolean; onPage: Page['onPage'] }) {
  return (
    <Button variant="default" size="xs" disabled={isIdle} onClick={() => onPage(to)}>
      {label}
    </Button>
  )
}
