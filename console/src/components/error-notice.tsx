import { Button, Code, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiProblem, retryDelayOf, Unreachable } from '../api/problem.ts'
import { problemTexts } from '../texts/problems.ts'
import { texts } from '../texts/texts.ts'
import classes from './notice.module.css'

type ErrorNoticeProps =
  /** In place of data that could not be loaded. Transient errors are retried by the query itself. */
  | { variant: 'load'; error: Error; onRetry?: () => void }
  /** Beside the button of an action that failed; empty while `error` is null. */
  | { variant: 'action'; error: Error | null }
  /** Above the fields of a form; `useFocusFirstError` focuses it. @param children what the user can do about it */
  | { variant: 'form'; error: Error; children?: ReactNode }

const ERRORS = texts.components.errors

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

/** What happened in the language of the page. */
function errorText(error: Error): { title: string; text: string } {
  if (error instanceof Unreachable) return { title: ERRORS.noResponse, text: ERRORS.unreachable }
  if (!(error instanceof ApiProblem)) return { title: ERRORS.loadingFailed, text: error.message }
  return problemTexts(error.code) ?? { title: error.title, text: error.message }
}

/** The service's own words, which name values and are in English, and the id of the request in its log. */
function ServiceDetail({ error }: { error: Error }) {
  if (!(error instanceof ApiProblem)) return null
  return (
    <Text size="xs" c="dimmed" mt={6} component="div">
      {error.message !== errorText(error).text && <div lang="en">{error.message}</div>}
      {ERRORS.request} <Code>{error.requestId}</Code>
    </Text>
  )
}

function LoadError({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const { title, text } = errorText(error)
  return (
    <div className={classes.notice} role="alert">
      <Text fw={600} size="sm">
        {error instanceof ApiProblem ? title : ERRORS.loadingFailed}
      </Text>
      <Text size="sm" mt={4}>
        {text} {retryDelayOf(error) !== null && ERRORS.retrying}
      </Text>
      <ServiceDetail error={error} />
      {onRetry !== undefined && (
        <Button variant="default" size="xs" mt="sm" onClick={onRetry}>
          {ERRORS.tryAgain}
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
            {errorText(error).text} {error instanceof Unreachable && ERRORS.checkFirst}
          </Text>
          <ServiceDetail error={error} />
        </div>
      )}
    </div>
  )
}

function FormError({ error, children }: { error: Error; children?: ReactNode }) {
  const { title, text } = errorText(error)
  return (
    // Not Mantine's Alert, which every page would load although only forms need it.
    <div className={classes.form} role="alert" tabIndex={-1} data-form-error>
      <Text fw={700} size="sm" c="var(--mantine-color-error)" mb={4}>
        {error instanceof ApiProblem ? title : ERRORS.noResponse}
      </Text>
      <Text size="sm" component="div">
        {text} {error instanceof Unreachable && ERRORS.inputKept}
        {children}
      </Text>
      <ServiceDetail error={error} />
    </div>
  )
}
