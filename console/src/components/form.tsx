import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { ErrorNotice } from './error-notice.tsx'
import { useFocusFirstError } from './form-errors.ts'

interface FormProps {
  /** What is sent. While it is on its way, nothing is sent again. Without it, the browser checks the fields. */
  sending?: { error: Error | null; isPending: boolean }
  /** What the fields do not show of its error; by default all of it. */
  rest?: Error | null | undefined
  /** What the user can do about it. */
  remedy?: ReactNode
  onSubmit: () => void
  /** The label of the button. */
  submit: ReactNode
  isDanger?: boolean
  isDisabled?: boolean
  /** Beside the button, which is else as wide as the form. */
  beside?: ReactNode
  /** Below it. */
  below?: ReactNode
  maw?: string | number
  children: ReactNode
}

/** A form with its fields one below the other, its error above them and its button below. */
export function Form({ sending, onSubmit, submit, children, beside, below, maw, ...more }: FormProps) {
  const { rest = sending?.error, remedy, isDanger = false, isDisabled = false } = more
  const element = useRef<HTMLFormElement>(null)
  useFocusFirstError(element, sending?.error ?? null)
  const isBusy = sending?.isPending ?? false
  const button = (
    <Button type="submit" {...(isDanger && { color: 'red' })} loading={isBusy} disabled={isDisabled}>
      {submit}
    </Button>
  )
  return (
    <form
      ref={element}
      onSubmit={event => {
        event.preventDefault()
        if (!isBusy) onSubmit()
      }}
      noValidate={sending !== undefined}
    >
      <Stack gap="md" maw={maw}>
        {rest != null && (
          <ErrorNotice variant="form" error={rest}>
            {remedy}
          </ErrorNotice>
        )}
        {children}
        {beside === undefined ? (
          button
        ) : (
          <Group gap="sm">
            {button}
            {beside}
          </Group>
        )}
        {below}
      </Stack>
    </form>
  )
}

/** Beside the button of a form that is left without it. */
export function Leave({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button variant="default" onClick={onClick}>
      {children}
    </Button>
  )
}

interface SavedStateProps {
  words: { discard: string; saved: string }
  isSaved: boolean
  /** Gives up the input; null without any. */
  onDiscard: (() => void) | null
}

/** Beside the button of a form that stays after a save. */
export function SavedState({ words, isSaved, onDiscard }: SavedStateProps) {
  return (
    <>
      {onDiscard !== null && (
        <Button variant="default" onClick={onDiscard}>
          {words.discard}
        </Button>
      )}
      <Text size="sm" role="status">
        {isSaved && words.saved}
      </Text>
    </>
  )
}
