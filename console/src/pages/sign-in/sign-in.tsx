import { Button, Divider, Group, Paper, Text, Title } from '@mantine/core'
import { type ReactNode, Suspense, use } from 'react'
import Contact from '../../components/contact.tsx'
import { usePageTitle } from '../../components/page-title.tsx'
import { formatList } from '../../formats.ts'
import { consoleConfig } from '../../session/console-config.ts'
import { acceptLink, type Caller, declineLink, signOut } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './sign-in.module.css'
import { ProviderSignIn, TokenForm } from './sign-in-forms.tsx'

/** The sign-in page. It keeps the URL, which opens after the sign-in. Suspends until the options are loaded. */
export function SignIn({ error }: { error: string | null }) {
  const { signIn, or } = texts.session
  usePageTitle(signIn.tab)
  const { oidc } = use(consoleConfig())
  return (
    <Card title={signIn.title}>
      <Text size="sm" c="dimmed" mb="lg">
        {oidc === null ? signIn.byToken : signIn.byAccount}
      </Text>
      {oidc !== null && (
        <>
          {error !== null && (
            <Text size="sm" c="var(--mantine-color-error)" mb="sm" role="alert">
              {error}
            </Text>
          )}
          <ProviderSignIn issuer={oidc.issuer} />
          <Divider label={or} my="lg" />
        </>
      )}
      <TokenForm initialError={oidc === null ? error : null} isSecond={oidc !== null} />
      <Text size="sm" c="dimmed" mt="lg">
        {signIn.aboutTokens}
      </Text>
      <Help />
    </Card>
  )
}

/** Asks before a sign-in link signs in. */
export function SignInByLink({ caller }: { caller: Caller }) {
  const { offer } = texts.session
  usePageTitle(offer.tab)
  const roles = caller.roles.map(role => texts.shell.roles[role])
  return (
    <Card title={offer.title(caller.name ?? caller.subject)}>
      <Text size="sm" mb="xs">
        {offer.about(<bdi>{caller.subject}</bdi>, roles.length === 0 ? null : formatList(roles))}
      </Text>
      <Text size="sm" mb="md">
        {offer.caution}
      </Text>
      <Group grow>
        <Button variant="default" onClick={declineLink}>
          {offer.decline}
        </Button>
        <Button onClick={acceptLink}>{offer.accept}</Button>
      </Group>
    </Card>
  )
}

/** Shown for a valid token without access to any page, such as a sender's. */
export function NoAccess({ caller }: { caller: Caller }) {
  const { noAccess } = texts.session
  usePageTitle(noAccess.tab)
  if (caller.user_ref !== null) return <NotYetKnown userRef={caller.user_ref} />
  return (
    <Card title={noAccess.title}>
      <Text size="sm" mb="md">
        {noAccess.about(caller.name ?? caller.subject, caller.roles.includes('sender'))}
      </Text>
      <Button fullWidth onClick={signOut}>
        {noAccess.other}
      </Button>
      <Help />
    </Card>
  )
}

/** For a customer that the service does not know yet: usually the first message makes it known. */
function NotYetKnown({ userRef }: { userRef: string }) {
  const { noAccess } = texts.session
  return (
    <Card title={noAccess.notYet}>
      <Text size="sm" mb="md">
        {noAccess.aboutNotYet(userRef)}
      </Text>
      <Button fullWidth mb="xs" onClick={() => location.reload()}>
        {noAccess.again}
      </Button>
      <Button fullWidth variant="default" onClick={signOut}>
        {noAccess.other}
      </Button>
      <Help />
    </Card>
  )
}

function Help() {
  return (
    <Suspense>
      <Text size="sm" c="dimmed" mt="lg">
        <Contact />
      </Text>
    </Suspense>
  )
}

/** A page with one card in its middle. */
export function Card({ title, role, children }: { title: string; role?: 'alert'; children: ReactNode }) {
  return (
    <main className={classes.page}>
      <Paper className={classes.card} withBorder p="xl" role={role}>
        <Title order={1} size="h3" mb="xs">
          {title}
        </Title>
        {children}
      </Paper>
    </main>
  )
}
