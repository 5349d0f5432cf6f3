import { lazy, Suspense, useEffect } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { queryClient } from './api/query-client.ts'
import { Loading } from './components/loading.tsx'
import { NotFound } from './components/not-found.tsx'
import { PAGES } from './pages.tsx'
import { LinkDialog } from './session/link-dialog.tsx'
import { NoAccess } from './session/no-access.tsx'
import { type Caller, useSession } from './session/session.ts'
import { SessionEndedDialog } from './session/session-ended-dialog.tsx'
import { SignIn } from './session/sign-in.tsx'
import { SigningIn } from './session/signing-in.tsx'
import { Shell } from './shell/shell.tsx'

const ProviderReturn = lazy(() => import('./session/provider-return.tsx'))

/** Chooses what to show by URL and session. */
export function App() {
  return (
    <Switch>
      <Route path="/signed-in">
        <Suspense fallback={<SigningIn />}>
          <ProviderReturn />
        </Suspense>
      </Route>
      <Route>
        <BySession />
      </Route>
    </Switch>
  )
}

function BySession() {
  const session = useSession()
  useEffect(() => {
    if (session.state === 'signed-out') queryClient.clear()
  }, [session.state])

  switch (session.state) {
    case 'signed-out':
      return (
        <Suspense fallback={<SigningIn />}>
          <SignIn error={session.error} />
        </Suspense>
      )
    case 'opening':
      return <SigningIn />
    default:
      // One element for both states, so that the page under the dialog stays mounted.
      return (
        <>
          <Signed caller={session.caller} />
          <SessionEndedDialog isOpen={session.state === 'ended'} />
          <LinkDialog caller={session.caller} />
        </>
      )
  }
}

function Signed({ caller }: { caller: Caller }) {
  const pages = PAGES.filter(page => page.isFor(caller))
  const home = pages[0]
  if (home === undefined) return <NoAccess caller={caller} />
  return (
    <Shell pages={pages}>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/">
            <Redirect to={home.path} replace />
          </Route>
          {pages.map(({ path, Page }) => (
            <Route key={path} path={path}>
              <Page />
            </Route>
          ))}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  )
}
