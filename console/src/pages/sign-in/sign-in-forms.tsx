import { Button, Divider, PasswordInput, Text } from '@mantine/core'
import { type FormEvent, use, useEffect, useRef, useState } from 'react'
import { ApiProblem } from '../../api/problem.ts'
import { consoleConfig } from '../../session/console-config.ts'
import { signIn } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'

const { provider, tokenForm } = texts.session

/** The ways to renew an expired session: through the identity provider, if there is one, or with a token. Suspends. */
export function SignInAgain() {
  const { oidc } = use(consoleConfig())
  if (oidc === null) return <TokenForm />
  return (
    <>
      <ProviderSignInAgain issuer={oidc.issuer} />
      <Divider label={texts.session.or} my="lg" />
      <TokenForm isSecond />
    </>
  )
}

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
        label={tokenForm.label}
        description={tokenForm.about}
        value={token}
        onChange={event => setToken(event.currentTarget.value)}
        error={error}
        errorProps={{ role: 'alert' }}
        autoComplete="off"
        spellCheck={false}
        data-autofocus={!isSecond || undefined}
        visibilityToggleButtonProps={{ 'aria-label': tokenForm.show, tabIndex: 0 }}
      />
      <Button type="submit" fullWidth mt="md" loading={isBusy} variant={isSecond ? 'default' : 'filled'}>
        {isSecond ? tokenForm.submitSecond : tokenForm.submit}
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
  if (token === '') return tokenForm.empty
  if (!/^[\x21-\x7e]+$/.test(token)) return tokenForm.noToken
  return null
}

function messageOf(error: unknown): string {
  if (error instanceof ApiProblem && error.code === 'unauthenticated') return tokenForm.rejected(error.message)
  return error instanceof Error ? error.message : String(error)
}

/** Signs in through the identity provider, which navigates away from this page and back. */
export function ProviderSignIn({ issuer }: { issuer: string }) {
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function startSignIn() {
    setBusy(true)
    setError(null)
    const { beginSignIn, signInErrorMessage } = await import('../../session/provider.ts')
    const { pathname, search } = location
    await beginSignIn({ returnTo: pathname + search }).catch(error => {
      setError(signInErrorMessage(error))
      setBusy(false)
    })
  }
  return (
    <>
      <Button fullWidth loading={isBusy} onClick={startSignIn}>
        {provider.signIn(new URL(issuer).host)}
      </Button>
      <SignInError message={error} />
    </>
  )
}

/** Signs in through the identity provider in a popup, so that this page keeps its state. */
function ProviderSignInAgain({ issuer }: { issuer: string }) {
  const [error, setError] = useState<string | null>(null)
  const waiting = useRef<BroadcastChannel | null>(null)
  useEffect(() => () => waiting.current?.close(), [])

  function open() {
    setError(null)
    // The name is random, so that no other window receives the token.
    const name = `sms-quota.${crypto.randomUUID()}`
    waiting.current?.close()
    waiting.current = new BroadcastChannel(name)
    waiting.current.onmessage = ({ data }) => {
      signIn(String(data)).catch(error => setError(error instanceof Error ? error.message : String(error)))
    }
    const opened = window.open(`/console/signed-in#again=${name}`, '_blank', 'popup,width=480,height=680')
    if (opened === null) setError(provider.popupBlocked)
  }
  return (
    <>
      <Button fullWidth onClick={open}>
        {provider.signInAgain(new URL(issuer).host)}
      </Button>
      <SignInError message={error} />
    </>
  )
}

function SignInError({ message }: { message: string | null }) {
  return (
    <Text size="sm" c="var(--mantine-color-error)" mt={message === null ? 0 : 'xs'} role="alert">
      {message}
    </Text>
  )
}
