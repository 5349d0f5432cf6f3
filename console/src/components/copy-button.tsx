import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { texts } from '../texts/texts.ts'

const { copying } = texts.shell

interface CopyButtonProps {
  value: string
  label?: string
  /** Selects the text on the page, for browsers that do not allow copying. */
  onSelect?: () => void
}

/** Copies a text to the clipboard, and says whether it did. */
export function CopyButton({ value, label = copying.copy, onSelect }: CopyButtonProps) {
  const [result, setResult] = useState('')

  async function copy() {
    onSelect?.()
    try {
      await navigator.clipboard.writeText(value)
      setResult(copying.copied)
    } catch {
      setResult(copying.refused)
    }
  }
  return (
    <Group gap="xs">
      <Button variant="default" size="xs" onClick={copy}>
        {label}
      </Button>
      <Text size="sm" role="status">
        {result}
      </Text>
    </Group>
  )
}
