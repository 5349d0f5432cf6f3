import { Button, Divider, Text } from '@mantine/core'
import { Suspense, use } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { Loading } from '../components/loading.tsx'
import { consoleConfig } from './console-config.ts'
import { ProviderSignInAgain } from './provider-button.tsx'
import { signOut } from './session.ts'
import { TokenForm } from './token-form.tsx'

/** Asks the user to sign in again when the token has expired; the page under it keeps its input. */
export function SessionEndedDialog({ isOpen }: { isOpen: boolean }) {
  return (
    <Dialog title="Your session has expired" isOpen={isOpen}>
      <Text size="sm" mb="md">
        Sign in again to continue. Your input is kept.
      </Text>
      <Suspense fallback={<Loading rows={3} />}>
        <SignInOptions />
      </Suspense>
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={signOut}>
        Sign out and leave this page
      </Button>
    </Dialog>
  )
}

function SignInOptions() {
  const { oidc } = use(consoleConfig())
  if (oidc === null) return <TokenForm />
  return (
    <>
      <ProviderSignInAgain issuer={oidc.issuer} />
      <Divider label="or" my="lg" />
      <TokenForm isSecond />
    </>
  )
}
