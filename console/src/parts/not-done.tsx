import { Code, Text } from '@mantine/core'
import { ApiProblem, Unreachable } from '../api/problem.ts'
import classes from './not-done.module.css'

/** Why what somebody asked for was not done, beside where they asked for it. Nothing is there while `error` is null. */
export function NotDone({ error }: { error: Error | null }) {
  return (
    <div role="alert">
      {error !== null && (
        <div className={classes.words}>
          <Text size="sm">{wordsFor(error)}</Text>
          {error instanceof ApiProblem && (
            <Text size="xs" mt={4}>
              {error.title} · request <Code>{error.requestId}</Code>
            </Text>
          )}
        </div>
      )}
    </div>
  )
}

function wordsFor(error: Error): string {
  if (error instanceof Unreachable) return `${error.message} It may have been done or not: look before you try again.`
  return error.message
}
