import { Button, Text } from '@mantine/core'

/** What the service advises against may be meant; it is said first what then happens. */
export function BelowUsage({ onConfirm }: { onConfirm: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        You can set it all the same. Nothing is taken back: messages that are paid stay paid, and the quota is exhausted
        until its window ends or the limit rises.
      </Text>
      <Button size="xs" color="red" variant="outline" mt="xs" onClick={onConfirm}>
        Set it all the same
      </Button>
    </>
  )
}
