import { Button, Group, Text } from '@mantine/core'
import { texts } from '../texts/texts.ts'

const PAGES = texts.components.pages

interface Page {
  /** From 1. */
  page: number
  page_size: number
  total: number
  onPage: (page: number) => void
}

/** Position in a numbered list, and buttons to page through it. */
export function Pager({ page, page_size, total, onPage }: Page) {
  const last = Math.max(1, Math.ceil(total / page_size))
  const first = (page - 1) * page_size + 1
  const position =
    first > total ? PAGES.pastTheEnd(total) : PAGES.position(first, Math.min(total, page * page_size), total)
  return (
    <Group component="nav" aria-label={PAGES.label} justify="space-between" gap="sm" mt="md">
      <Text size="sm" c="dimmed" role="status">
        {position}
      </Text>
      <Button.Group>
        <PageButton label={PAGES.first} to={1} isDisabled={page === 1} onPage={onPage} />
        <PageButton label={PAGES.previous} to={Math.min(page - 1, last)} isDisabled={page === 1} onPage={onPage} />
        <PageButton label={PAGES.next} to={page + 1} isDisabled={page >= last} onPage={onPage} />
        <PageButton label={PAGES.last} to={last} isDisabled={page >= last} onPage={onPage} />
      </Button.Group>
    </Group>
  )
}

function PageButton({
  label,
  to,
  isDisabled,
  onPage,
}: {
  label: string
  to: number
  isDisabled: boolean
  onPage: Page['onPage']
}) {
  return (
    <Button variant="default" size="xs" disabled={isDisabled} onClick={() => onPage(to)}>
      {label}
    </Button>
  )
}
