import { Button, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { usePageTitle } from '../../components/page-title.tsx'
import { beginSignIn, finishSignIn, signInErrorMessage } from '../../session/provider.ts'
import { keepToken } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { Card } from './sign-in.tsx'
import { SigningIn } from './signing-in.tsx'

let redirecting: Promise<void> | null = null

/** The redirect URI of the identity provider, and the start page of the popup that renews a session. */
export default function ProviderReturn() {
  const [message, setMessage] = useState<string | null>(null)
  useEffect(() => {
    // The authorization code can be used only once, and effects run twice in development.
    redirecting ??= handleRedirect()
    redirecting.catch(error => setMessage(signInErrorMessage(error)))
  }, [])
  return message === null ? <SigningIn /> : <SignInFailedCard message={message} />
}

/** Navigates to another page, or closes this window. */
async function handleRedirect(): Promise<void> {
  const { search, hash, pathname } = location
  // Keeps the authorization code out of the history.
  history.replaceState(null, '', pathname)
  const channel = new URLSearchParams(hash.slice(1)).get('again')
  if (channel !== null) return beginSignIn({ channel })

  const { token, purpose } = await finishSignIn(new URLSearchParams(search))
  if ('channel' in purpose) {
    const waiting = new BroadcastChannel(purpose.channel)
    waiting.postMessage(token)
    waiting.close()
    window.close()
    return
  }
  keepToken(token)
  location.replace(purpose.returnTo)
}

function SignInFailedCard({ message }: { message: string }) {
  const { failed } = texts.session
  usePageTitle(failed.title)
  return (
    <Card title={failed.title} role="alert">
      <Text size="sm" mb="md">
        {message}
      </Text>
      <Button component="a" href="/console/" fullWidth>
        {failed.back}
      </Button>
    </Card>
  )
}
