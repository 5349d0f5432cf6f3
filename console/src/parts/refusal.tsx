import { Alert, Code, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiProblem, Unreachable } from '../api/problem.ts'

interface RefusalProps {
  /** Why what was asked for was not done. */
  error: Error
  /** What to do about it, if there is more to say than the service does. */
  children?: ReactNode
}

/** Why a change was not made. Takes the focus where nothing else is wrong, so that nobody misses it. */
export function Refusal({ error, children }: RefusalProps) {
  const isProblem = error instanceof ApiProblem
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      tabIndex={-1}
      data-refusal
      title={isProblem ? error.title : 'No answer'}
    >
      {error.message}
      {error instanceof Unreachable &&
        ' Nobody knows whether it was carried out. Nothing that you typed is lost; press again when it is back: it is done once.'}
      {children}
      {isProblem && (
        <Text size="xs" mt={6}>
          Request <Code>{error.requestId}</Code>
        </Text>
      )}
    </Alert>
  )
}
