import '@mantine/core/styles.layer.css'
import './shell/base.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { queries } from './api/queries.ts'
import { App } from './app.tsx'
import { resume, takeLinkToken } from './session/session.ts'
import { colours, theme } from './shell/theme.ts'

takeLinkToken()
// A link that is opened in a tab where the console already is changes nothing but the fragment.
window.addEventListener('hashchange', () => {
  if (takeLinkToken()) location.reload()
})
// On the way back from the provider there is no token yet.
if (location.pathname !== '/console/signed-in') void resume()

// The page's policy lets only styles with this answer's nonce be made. Its attribute is hidden from scripts, not its property.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={colours} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <App />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
