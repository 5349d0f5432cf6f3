import { Button, Code, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiProblem, retryDelayOf, Unreachable } from '../api/problem.ts'
import classes from './notice.module.css'

type ErrorNoticeProps =
  /** In place of data that could not be loaded. Transient errors are retried by the query itself. */
  | { variant: 'load'; error: Error; onRetry?: () => void }
  /** Beside the button of an action that failed; empty while `error` is null. */
  | { variant: 'action'; error: Error | null }
  /** Above the fields of a form; `useFocusFirstError` focuses it. @param children what the user can do about it */
  | { variant: 'form'; error: Error; children?: ReactNode }

/** An error of the API or of the connection, as the user sees it. */
export function ErrorNotice(props: ErrorNoticeProps) {
  switch (props.variant) {
    case 'load':
      return <LoadError {...props} />
    case 'action':
      return <ActionError {...props} />
    case 'form':
      return <FormError {...props} />
  }
}

function LoadError({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <div className={classes.notice} role="alert">
      <Text fw={600} size="sm">
        {error instanceof ApiProblem ? error.title : 'Loading failed'}
      </Text>
      <Text size="sm" mt={4}>
        {error.message} {retryDelayOf(error) !== null && 'Retrying…'}
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

function ActionError({ error }: { error: Error | null }) {
  return (
    <div role="alert">
      {error !== null && (
        <div className={classes.inline}>
          <Text size="sm">
            {error.message}
            {error instanceof Unreachable && ' The request may have been processed. Check before you try again.'}
          </Text>
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

function FormError({ error, children }: { error: Error; children?: ReactNode }) {
  const isProblem = error instanceof ApiProblem
  return (
    // Not Mantine's Alert, which every page would load although only forms need it.
    <div className={classes.form} role="alert" tabIndex={-1} data-form-error>
      <Text fw={700} size="sm" c="var(--mantine-color-error)" mb={4}>
        {isProblem ? error.title : 'No response'}
      </Text>
      <Text size="sm" component="div">
        {error.message}
        {error instanceof Unreachable &&
          ' The request may have been processed. Your input is kept: try again when the service is back. The change is applied only once.'}
        {children}
      </Text>
      {isProblem && (
        <Text size="xs" mt={6}>
          Request <Code>{error.requestId}</Code>
        </Text>
      )}
    </div>
  )
}
