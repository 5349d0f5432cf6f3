import { Anchor, Code, Divider, Paper, Text, Title } from '@mantine/core'
import { use } from 'react'
import { usePageTitle } from '../components/page-title.tsx'
import { consoleConfig } from './console-config.ts'
import { ProviderSignIn } from './provider-button.tsx'
import classes from './sign-in.module.css'
import { TokenForm } from './token-form.tsx'

/** The sign-in page. It keeps the URL, which opens after the sign-in. Suspends until the options are loaded. */
export function SignIn({ error }: { error: string | null }) {
  usePageTitle('Sign in')
  const { oidc } = use(consoleConfig())
  return (
    <main className={classes.page}>
      <Paper className={classes.card} withBorder p="xl">
        <Title order={1} size="h3" mb="xs">
          Sign in to sms-quota
        </Title>
        {oidc === null ? (
          <Text size="sm" c="dimmed" mb="lg">
            Open the link that <Code>npm start</Code> prints, or paste a token.
          </Text>
        ) : (
          <>
            <Text size="sm" c="dimmed" mb="lg">
              Sign in with your account or with a token.
            </Text>
            {error !== null && (
              <Text size="sm" c="var(--mantine-color-error)" mb="sm" role="alert">
                {error}
              </Text>
            )}
            <ProviderSignIn issuer={oidc.issuer} />
            <Divider label="or" my="lg" />
          </>
        )}
        <TokenForm initialError={oidc === null ? error : null} isSecond={oidc !== null} />
        <Text size="sm" c="dimmed" mt="lg">
          The token is stored in this tab until you close it. Programs use the same tokens: see the{' '}
          <Anchor href="/docs" inherit underline="always">
            API documentation
          </Anchor>
          .
        </Text>
      </Paper>
    </main>
  )
}
