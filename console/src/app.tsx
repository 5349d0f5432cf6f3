import { Suspense, useEffect } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { queries } from './api/queries.ts'
import { PAGES } from './pages.ts'
import { Loading } from './parts/loading.tsx'
import { NotFound } from './parts/not-found.tsx'
import { EndedDialog } from './session/ended-dialog.tsx'
import { NoAccess } from './session/no-access.tsx'
import { Opening } from './session/opening.tsx'
import { type Caller, useSession } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { Shell } from './shell/shell.tsx'

/** What is shown: by who is signed in, then by the address. */
export function App() {
  const session = useSession()
  useEffect(() => {
    if (session.state === 'signed-out') queries.clear()
  }, [session.state])

  switch (session.state) {
    case 'signed-out':
      return <SignIn refusal={session.refusal} />
    case 'opening':
      return <Opening />
    default:
      // One place for both, so that the page beneath the dialog is the same one as before and after it.
      return (
        <>
          <Signed caller={session.caller} />
          <EndedDialog isOpen={session.state === 'ended'} />
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
