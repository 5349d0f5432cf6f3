import { Button, Text } from '@mantine/core'
import { quotaTexts } from '../../texts/quota.ts'

/** Explains a limit below the current usage, and lets the user confirm it. */
export function BelowUsage({ onConfirm }: { onConfirm: () => void }) {
  return (
    <>
      <Text size="sm" mt={6}>
        {quotaTexts.belowUsage.text}
      </Text>
      <Button size="xs" color="red" variant="outline" mt="xs" onClick={onConfirm}>
        {quotaTexts.belowUsage.confirm}
      </Button>
    </>
  )
}
