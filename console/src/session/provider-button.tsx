import { Button, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { signIn } from './session.ts'

/** The way through the provider, which leaves this page and comes back to it. */
export function ProviderSignIn({ issuer }: { issuer: string }) {
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function leave() {
    setBusy(true)
    setFault(null)
    const [{ beginSignIn }, { wordsFor }] = await Promise.all([import('./provider.ts'), import('./provider-words.ts')])
    const { pathname, search } = location
    await beginSignIn({ returnTo: pathname + search }).catch(error => {
      setFault(wordsFor(error))
      setBusy(false)
    })
  }
  return (
    <>
      <Button fullWidth loading={isBusy} onClick={leave}>
        Sign in with {new URL(issuer).host}
      </Button>
      <Fault words={fault} />
    </>
  )
}

/** The same in a window of its own, so that this page and what was typed into it stay as they are. */
export function ProviderSignInAgain({ issuer }: { issuer: string }) {
  const [fault, setFault] = useState<string | null>(null)
  const waiting = useRef<BroadcastChannel | null>(null)
  useEffect(() => () => waiting.current?.close(), [])

  function open() {
    setFault(null)
    // Nobody else knows its name, so nobody else hears the token.
    const name = `sms-quota.${crypto.randomUUID()}`
    waiting.current?.close()
    waiting.current = new BroadcastChannel(name)
    waiting.current.onmessage = ({ data }) => {
      signIn(String(data)).catch(error => setFault(error instanceof Error ? error.message : String(error)))
    }
    const opened = window.open(`/console/signed-in#again=${name}`, '_blank', 'popup,width=480,height=680')
    if (opened === null) setFault('The browser has blocked the window. Allow it to open, or paste a token.')
  }
  return (
    <>
      <Button fullWidth onClick={open}>
        Sign in again with {new URL(issuer).host}
      </Button>
      <Fault words={fault} />
    </>
  )
}

function Fault({ words }: { words: string | null }) {
  return (
    <Text size="sm" c="var(--mantine-color-error)" mt={words === null ? 0 : 'xs'} role="alert">
      {words}
    </Text>
  )
}
