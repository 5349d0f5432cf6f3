import { Button, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiProblem } from '../api/problem.ts'
import { signIn } from './session.ts'

interface TokenFormProps {
  /** Why the previous token was rejected. */
  initialError?: string | null
  /** Whether it is the alternative to an identity provider. */
  isSecond?: boolean
}

export function TokenForm({ initialError = null, isSecond = false }: TokenFormProps) {
  const [token, setToken] = useState('')
  const [error, setError] = useState(initialError)
  const [isBusy, setBusy] = useState(false)

  async function submit(event: FormEvent) {
    event.preventDefault()
    const offered = withoutScheme(token)
    const formatError = formatErrorOf(offered)
    setError(formatError)
    if (formatError !== null) return
    setBusy(true)
    try {
      await signIn(offered)
    } catch (reason) {
      setError(messageOf(reason))
      setBusy(false)
    }
  }

  return (
    <form onSubmit={submit} noValidate>
      <PasswordInput
        label="Token"
        description="A JWT: three parts separated by dots, starting with “eyJ”."
        value={token}
        onChange={event => setToken(event.currentTarget.value)}
        error={error}
        errorProps={{ role: 'alert' }}
        autoComplete="off"
        spellCheck={false}
        data-autofocus={!isSecond || undefined}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the token', tabIndex: 0 }}
      />
      <Button type="submit" fullWidth mt="md" loading={isBusy} variant={isSecond ? 'default' : 'filled'}>
        {isSecond ? 'Sign in with this token' : 'Sign in'}
      </Button>
    </form>
  )
}

/** Users paste whole header lines. */
function withoutScheme(text: string): string {
  return text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '')
}

/** Errors found without a request; fetch rejects invalid header values. */
function formatErrorOf(token: string): string | null {
  if (token === '') return 'Paste a token first.'
  if (!/^[\x21-\x7e]+$/.test(token)) return 'This is not a token: it contains spaces or invalid characters.'
  return null
}

function messageOf(error: unknown): string {
  if (error instanceof ApiProblem && error.code === 'unauthenticated') return `${error.message} Get a new one.`
  return error instanceof Error ? error.message : String(error)
}
