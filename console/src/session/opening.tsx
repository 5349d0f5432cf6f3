import { Loader, Text } from '@mantine/core'
import { useReachable } from '../api/reachability.ts'
import { usePageTitle } from '../parts/page-title.tsx'
import classes from './sign-in.module.css'

/** While the service is asked whose token it is, or how to sign in. */
export function Opening() {
  usePageTitle('Signing in')
  const isReachable = useReachable()
  return (
    <main className={classes.page}>
      <div role="status" className={classes.opening}>
        <Loader size="sm" />
        <Text>{isReachable ? 'Signing in…' : 'The service does not answer. Trying again…'}</Text>
      </div>
    </main>
  )
}
