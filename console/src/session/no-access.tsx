import { Button, Paper, Text, Title } from '@mantine/core'
import { usePageTitle } from '../components/page-title.tsx'
import { type Caller, signOut } from './session.ts'
import classes from './sign-in.module.css'

/** Shown for a valid token without access to any page, such as a sender's. */
export function NoAccess({ caller }: { caller: Caller }) {
  usePageTitle('No access')
  return (
    <main className={classes.page}>
      <Paper className={classes.card} withBorder p="xl">
        <Title order={1} size="h3" mb="xs">
          No access with this token
        </Title>
        <Text size="sm" mb="md">
          You are signed in as “{caller.subject}”. The console is for users, administrators, auditors and support staff,
          and this token has neither a user id nor one of their roles
          {caller.roles.includes('sender') && ': it is a sender’s token'}.
        </Text>
        <Button fullWidth onClick={signOut}>
          Sign in with another token
        </Button>
      </Paper>
    </main>
  )
}
