import { Button, Code, Text } from '@mantine/core'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import classes from './notice.module.css'

/** What went wrong in place of what should stand here. What may go by itself is asked again by itself. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const isTransient = retryDelayOf(error) !== null
  return (
    <div className={classes.notice} role="alert">
      <Text fw={600} size="sm">
        {error instanceof ApiProblem ? error.title : 'This could not be loaded'}
      </Text>
      <Text size="sm" mt={4}>
        {error.message} {isTransient && 'Trying again by itself…'}
      </Text>
      {error instanceof ApiProblem && (
        <Text size="xs" c="dimmed" mt={8}>
          Request <Code>{error.requestId}</Code>
        </Text>
      )}
      {onRetry !== undefined && (
        <Button variant="default" size="xs" mt="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
