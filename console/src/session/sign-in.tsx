import { Anchor, Code, Divider, Paper, Text, Title } from '@mantine/core'
import { use } from 'react'
import { usePageTitle } from '../parts/page-title.tsx'
import { consoleConfig } from './console-config.ts'
import { ProviderSignIn } from './provider-button.tsx'
import classes from './sign-in.module.css'
import { TokenForm } from './token-form.tsx'

/** The page for who is not signed in. It stands over whatever address was asked for, which then opens. Suspends. */
export function SignIn({ refusal }: { refusal: string | null }) {
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
              With your account, or with a token.
            </Text>
            {refusal !== null && (
              <Text size="sm" c="var(--mantine-color-error)" mb="sm" role="alert">
                {refusal}
              </Text>
            )}
            <ProviderSignIn issuer={oidc.issuer} />
            <Divider label="or" my="lg" />
          </>
        )}
        <TokenForm initialError={oidc === null ? refusal : null} isSecond={oidc !== null} />
        <Text size="sm" c="dimmed" mt="lg">
          The token stays in this tab and goes when you close it. Programs use the same tokens: see the{' '}
          <Anchor href="/docs" inherit underline="always">
            API documentation
          </Anchor>
          .
        </Text>
      </Paper>
    </main>
  )
}
