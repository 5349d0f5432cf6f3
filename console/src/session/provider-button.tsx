import { Button, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { signIn } from './session.ts'

/** Signs in through the identity provider, which navigates away from this page and back. */
export function ProviderSignIn({ issuer }: { issuer: string }) {
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function startSignIn() {
    setBusy(true)
    setError(null)
    const [{ beginSignIn }, { signInErrorMessage }] = await Promise.all([
      import('./provider.ts'),
      import('./provider-messages.ts'),
    ])
    const { pathname, search } = location
    await beginSignIn({ returnTo: pathname + search }).catch(error => {
      setError(signInErrorMessage(error))
      setBusy(false)
    })
  }
  return (
    <>
      <Button fullWidth loading={isBusy} onClick={startSignIn}>
        Sign in with {new URL(issuer).host}
      </Button>
      <SignInError message={error} />
    </>
  )
}

/** Signs in through the identity provider in a popup, so that this page keeps its state. */
export function ProviderSignInAgain({ issuer }: { issuer: string }) {
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
    if (opened === null) setError('The browser blocked the popup. Allow it, or paste a token.')
  }
  return (
    <>
      <Button fullWidth onClick={open}>
        Sign in again with {new URL(issuer).host}
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
