import { Button, Text } from '@mantine/core'
import { texts } from '../../texts/texts.ts'

/** Explains a limit below the current usage, and lets the user confirm it. */
export function BelowUsage({ onConfirm }: { onConfirm: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        {texts.quota.belowUsage.text}
      </Text>
      <Button size="xs" color="red" variant="outline" mt="xs" onClick={onConfirm}>
        {texts.quota.belowUsage.confirm}
      </Button>
    </>
  )
}
