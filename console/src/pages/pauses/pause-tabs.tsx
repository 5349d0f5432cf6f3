import { useLocation } from 'wouter'
import { TabNav } from '../../components/tab-nav.tsx'
import { texts } from '../../texts/texts.ts'

/** What is paused, and the breaker that pauses by itself. */
export function PauseTabs() {
  const [location] = useLocation()
  const { pauses, breaker } = texts.pauses.tabs
  const tabs = [
    { label: pauses, href: '/pauses' },
    { label: breaker, href: '/pauses/breaker' },
  ].map(tab => ({ ...tab, isCurrent: tab.href === location }))
  return <TabNav label={texts.shell.pages.pauses} tabs={tabs} />
}
