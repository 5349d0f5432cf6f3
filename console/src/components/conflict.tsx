import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Actor, Timestamp } from './values.tsx'

interface ConflictProps {
  /** What is saved now. */
  theirs: { updated_by: string | null; updated_at: string }
  words: { title: string; about: (actor: ReactNode, at: ReactNode) => ReactNode; save: string; discard: string }
  /** Null where there is nothing to save; disabled until the user has chosen. */
  onSave: (() => void) | null
  isDisabled?: boolean
  isBusy?: boolean
  /** Gives up what is in the form. */
  onDiscard: () => void
  /** Beside the buttons. */
  beside?: ReactNode
  children: ReactNode
}

/** In place of a form whose save was based on an older version: who saved another one, and what becomes of the changes of both. */
export function Conflict({ theirs, words, onSave, onDiscard, beside, children, ...more }: ConflictProps) {
  const { isDisabled = false, isBusy = false } = more
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <Stack component="section" gap="sm" maw="60rem" aria-labelledby="conflict-title">
      {/* Below the fixed header. */}
      <Title
        order={2}
        size="h4"
        id="conflict-title"
        tabIndex={-1}
        ref={title}
        style={{ scrollMarginTop: '5rem', outline: 'none' }}
      >
        {words.title}
      </Title>
      <Text size="sm">{words.about(<Actor subject={theirs.updated_by} />, <Timestamp at={theirs.updated_at} />)}</Text>
      {children}
      <Group gap="sm">
        {onSave !== null && (
          <Button onClick={onSave} loading={isBusy} disabled={isDisabled}>
            {words.save}
          </Button>
        )}
        <Button variant="default" onClick={onDiscard}>
          {words.discard}
        </Button>
        {beside}
      </Group>
    </Stack>
  )
}
