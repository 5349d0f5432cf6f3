import { Button, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiProblem } from '../api/problem.ts'
import { signIn } from './session.ts'

interface TokenFormProps {
  /** What was wrong with the token before. */
  initialError?: string | null
  /** Whether there is a better way to sign in above it. */
  isSecond?: boolean
}

/** Where a token is pasted. */
export function TokenForm({ initialError = null, isSecond = false }: TokenFormProps) {
  const [token, setToken] = useState('')
  const [error, setError] = useState(initialError)
  const [isBusy, setBusy] = useState(false)

  async function submit(event: FormEvent) {
    event.preventDefault()
    const offered = withoutScheme(token)
    const fault = faultOf(offered)
    setError(fault)
    if (fault !== null) return
    setBusy(true)
    try {
      await signIn(offered)
    } catch (reason) {
      setError(wordsFor(reason))
      setBusy(false)
    }
  }

  return (
    <form onSubmit={submit} noValidate>
      <PasswordInput
        label="Token"
        description="A JWT: three parts with dots between them, beginning with “eyJ”."
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

/** People copy whole header lines. */
function withoutScheme(text: string): string {
  return text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '')
}

/** What can be told without asking; what is no header value would not even be sent. */
function faultOf(token: string): string | null {
  if (token === '') return 'Paste a token first.'
  if (!/^[\x21-\x7e]+$/.test(token)) return 'This is not a token: it holds spaces or letters that no token has.'
  return null
}

function wordsFor(error: unknown): string {
  if (error instanceof ApiProblem && error.code === 'unauthenticated') return `${error.message} Get a new one.`
  return error instanceof Error ? error.message : String(error)
}
