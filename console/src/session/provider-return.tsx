import { Button, Paper, Text, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { usePageTitle } from '../parts/page-title.tsx'
import { Opening } from './opening.tsx'
import { beginSignIn, finishSignIn } from './provider.ts'
import { wordsFor } from './provider-words.ts'
import { keepToken } from './session.ts'
import classes from './sign-in.module.css'

let passing: Promise<void> | null = null

/** Where the provider sends people back to, and where a window that was opened to sign in again begins. */
export default function ProviderReturn() {
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    // What is in the address can be used once.
    passing ??= passThrough()
    passing.catch(error => setFault(wordsFor(error)))
  }, [])
  return fault === null ? <Opening /> : <NotSignedIn why={fault} />
}

/** Ends on another page, or with this window closed. */
async function passThrough(): Promise<void> {
  const { search, hash, pathname } = location
  // The code is good for one use only; all the same it need not be in the history.
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

function NotSignedIn({ why }: { why: string }) {
  usePageTitle('You are not signed in')
  return (
    <main className={classes.page}>
      <Paper className={classes.card} withBorder p="xl" role="alert">
        <Title order={1} size="h3" mb="xs">
          You are not signed in
        </Title>
        <Text size="sm" mb="md" className={classes.why ?? ''}>
          {why}
        </Text>
        <Button component="a" href="/console/" fullWidth>
          Back to signing in
        </Button>
      </Paper>
    </main>
  )
}
