import { Anchor, Button, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ApiProblem } from '../api/problem.ts'

interface EarlierRequestProps {
  error: Error | null
  words: { earlier: (link: (text: string) => ReactNode) => ReactNode; createAnother: string }
  /** Where the one is that was created. */
  href: string
  onAnother: () => void
}

/** Shown when an earlier request of a form succeeded without a response, and the form was changed since. */
export function EarlierRequest({ error, words, href, onAnother }: EarlierRequestProps) {
  if (!(error instanceof ApiProblem && error.code === 'idempotency_mismatch')) return null
  const link = (text: string) => (
    <Anchor component={Link} href={href} inherit underline="always">
      {text}
    </Anchor>
  )
  return (
    <>
      <Text size="sm" mt={6}>
        {words.earlier(link)}
      </Text>
      <Button size="xs" variant="default" mt="xs" onClick={onAnother}>
        {words.createAnother}
      </Button>
    </>
  )
}
