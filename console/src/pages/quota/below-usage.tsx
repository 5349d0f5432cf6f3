import { Button, Text } from '@mantine/core'

/** Explains a limit below the current usage, and lets the user confirm it. */
export function BelowUsage({ onConfirm }: { onConfirm: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        You can still set this limit. Units already used stay used, and the quota is exhausted until its window ends or
        the limit is raised.
      </Text>
      <Button size="xs" color="red" variant="outline" mt="xs" onClick={onConfirm}>
        Set limit anyway
      </Button>
    </>
  )
}
