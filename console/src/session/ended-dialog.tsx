import { Button, Divider, Text } from '@mantine/core'
import { Suspense, use } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Loading } from '../parts/loading.tsx'
import { consoleConfig } from './console-config.ts'
import { ProviderSignInAgain } from './provider-button.tsx'
import { signOut } from './session.ts'
import { TokenForm } from './token-form.tsx'

/** Stands over the page when the token is not good any more; the page beneath keeps all that was typed into it. */
export function EndedDialog({ isOpen }: { isOpen: boolean }) {
  return (
    <Dialog title="Your sign-in has ended" isOpen={isOpen}>
      <Text size="sm" mb="md">
        Sign in again to go on where you were. Nothing that you typed is lost.
      </Text>
      <Suspense fallback={<Loading rows={3} />}>
        <Ways />
      </Suspense>
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={signOut}>
        Sign out and leave this page
      </Button>
    </Dialog>
  )
}

/** The ways to sign in here. */
function Ways() {
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
