import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { queryClient } from './api/query-client.ts'
import { App } from './app.tsx'
import { aroundNavigation, guardLeaving } from './components/unsaved-input.ts'
import { resume, takeLinkToken } from './session/session.ts'
import { theme, themeVariables } from './shell/theme.ts'

takeLinkToken()
guardLeaving()
// A sign-in link opened in a tab that shows the console changes only the fragment.
window.addEventListener('hashchange', () => {
  if (takeLinkToken()) void resume()
})
// A redirect from the identity provider has no token yet.
if (location.pathname !== '/console/signed-in') void resume()

// The content security policy allows only styles with this nonce. Scripts can read the property, not the attribute.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

const container = document.getElementById('root')
if (container === null) throw new Error('the page has no #root')
createRoot(container).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={themeVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Router base="/console" aroundNav={aroundNavigation}>
          <App />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
