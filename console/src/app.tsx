import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter'
import { queryClient } from './api/query-client.ts'
import { useReachable } from './api/reachability.ts'
import { NotFound } from './components/not-found.tsx'
import { PageBoundary } from './components/page-boundary.tsx'
import { SigningIn } from './pages/sign-in/signing-in.tsx'
import { PAGES, type PageEntry } from './pages.tsx'
import { newestQuotaQuery } from './queries/start.ts'
import { may } from './session/rights.ts'
import { type Caller, useSession } from './session/session.ts'
import { Shell } from './shell/shell.tsx'
import { FrameSkeleton, PageSkeleton } from './shell/skeletons.tsx'

const ProviderReturn = lazy(() => import('./pages/sign-in/provider-return.tsx'))
const NotificationLink = lazy(() => import('./pages/notification-link/notification-link.tsx'))
const loadSignIn = () => import('./pages/sign-in/sign-in.tsx')
const SignIn = lazy(async () => ({ default: (await loadSignIn()).SignIn }))
const SignInByLink = lazy(async () => ({ default: (await loadSignIn()).SignInByLink }))
const NoAccess = lazy(async () => ({ default: (await loadSignIn()).NoAccess }))
const SessionDialogs = lazy(() => import('./pages/sign-in/session-dialogs.tsx'))

/** Chooses what to show by URL and session. */
export function App() {
  return (
    <Switch>
      <Route path="/signed-in">
        <Suspense fallback={<SigningIn />}>
          <ProviderReturn />
        </Suspense>
      </Route>
      <Route path="/notifications/:what">
        <Suspense fallback={<SigningIn />}>
          <NotificationLink />
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
      return <Opening />
    case 'offered':
      return (
        <Suspense fallback={<SigningIn />}>
          <SignInByLink caller={session.offer} />
        </Suspense>
      )
    default:
      // One element for both states, so that the page under the dialog stays mounted.
      return (
        <>
          <Signed caller={session.caller} />
          <Suspense>
            <SessionDialogs caller={session.caller} isEnded={session.state === 'ended'} />
          </Suspense>
        </>
      )
  }
}

/** While the token of this tab is checked, usually for an instant. */
function Opening() {
  const [location] = useLocation()
  useEffect(() => {
    // The page itself says it if its file cannot be loaded.
    PAGES.find(({ path }) => path === location)
      ?.load?.()
      .catch(() => {})
  }, [location])
  return useReachable() ? <FrameSkeleton /> : <SigningIn />
}

function Signed({ caller }: { caller: Caller }) {
  const [location] = useLocation()
  const pages = PAGES.filter(page => page.isFor(caller))
  const home = pages[0]
  if (home === undefined)
    return (
      <Suspense fallback={<SigningIn />}>
        <NoAccess caller={caller} />
      </Suspense>
    )
  return (
    <Shell pages={pages}>
      <PageBoundary page={location}>
        <Switch>
          <Route path="/">
            <Home caller={caller} page={home} />
          </Route>
          {pages.map(({ path, shape, Page }) => (
            <Route key={path} path={path}>
              <Suspense fallback={<PageSkeleton shape={shape} />}>
                <Page />
              </Suspense>
            </Route>
          ))}
          <Route path="/denials">
            <DeniedMessages />
          </Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </PageBoundary>
    </Shell>
  )
}

/** The page of denials of all users is that of messages now, to which links to it lead. */
function DeniedMessages() {
  return <Redirect to={`/messages?state=denied&${useSearch()}`} replace />
}

/** Leads to the caller's start page; administrators of an empty service to the first steps. */
function Home({ caller, page }: { caller: Caller; page: PageEntry }) {
  const mayBegin = may(caller, 'change')
  const newest = useQuery({ ...newestQuotaQuery(), enabled: mayBegin })
  useEffect(() => {
    page.load?.().catch(() => {})
  }, [page])
  if (mayBegin && newest.isPending) return <PageSkeleton shape={page.shape} />
  return <Redirect to={newest.data === null ? '/start' : page.path} replace />
}
